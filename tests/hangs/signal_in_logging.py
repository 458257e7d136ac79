"""A deadlock of one thread with itself, without any fork: a signal handler logs while the main thread is logging.

The handler's lock is not re-entrant, and the thread that holds it is the one that waits. The same logging functions
stand twice in the one stack.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from types import FrameType
from typing import Optional

from ready import announce, wait_until_task_still

MOMENT = 0.2
log = logging.getLogger("train")


class SlowHandler(logging.Handler):
    """Writes slowly, under a plain lock."""

    def createLock(self) -> None:  # noqa: N802  # logging's name
        """Use a lock that its own holder cannot take twice."""
        self.lock = threading.Lock()  # type: ignore[assignment]  # the very mistake to show

    def emit(self, _record: logging.LogRecord) -> None:
        """Take a while."""
        time.sleep(2 * MOMENT)


def report(_signal: int, _frame: Optional[FrameType]) -> None:
    """Log that the signal came: wait for ever, if it came while logging."""
    log.warning("time is up")


def watch(tid: int) -> None:
    """Wait until the main thread hangs, and tell."""
    time.sleep(3 * MOMENT)  # it also sleeps for a while before the signal, which is no hang
    wait_until_task_still(tid)
    announce(holder_tid=tid, function="emit")


def main() -> None:
    """Have the signal come in the middle of logging."""
    log.addHandler(SlowHandler())
    signal.signal(signal.SIGALRM, report)
    watcher = threading.Thread(target=watch, args=(threading.get_native_id(),), name="watcher", daemon=True)
    watcher.start()
    signal.setitimer(signal.ITIMER_REAL, MOMENT)
    log.warning("loss 0.1")


if __name__ == "__main__":
    main()

"""The forked child waits for faulthandler's watchdog thread, which only the parent has.

`faulthandler.dump_traceback_later` starts a native thread that holds a lock while it runs. fork copies the lock held,
but not the thread. The child cancels the watchdog, as test runners and trainers do it, and waits for the thread's end.
The holder is no Python thread: it has neither a name nor a line.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os

from ready import announce, tasks, wait_until_still

A_WEEK = 604_800


def train() -> None:
    """Wait for ever: the watchdog was not copied."""
    faulthandler.cancel_dump_traceback_later()


def main() -> None:
    """Fork while the watchdog is armed."""
    faulthandler.dump_traceback_later(A_WEEK)
    (watchdog,) = set(tasks(os.getpid())) - {os.getpid()}
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid, holder_tid=watchdog, function="faulthandler_thread")
    worker.join()


if __name__ == "__main__":
    main()

"""The forked child waits for a lock of a logging handler in which a thread of the parent was at the fork.

    logging_handler.py [handler|emit]

logging makes the locks of its handlers anew in a forked child, but only those that it made. "handler" (the default) has
handlers that share a lock of their own; "emit" has a lock of its own beside that of logging, as handlers have it that
send to a server.
"""

from __future__ import annotations

import logging
import multiprocessing
import sys
import threading
from typing import Dict, Type

from ready import announce, wait_until_still, where

handling = threading.Event()


class SharedLockHandler(logging.Handler):
    """Shares one lock among all handlers of one file, by putting it where logging puts its own."""

    file_lock = threading.RLock()

    def createLock(self) -> None:  # noqa: N802  # logging's name
        """Take the shared lock instead of a new one."""
        self.lock = self.file_lock

    def emit(self, _record: logging.LogRecord) -> None:
        """Write without end, the lock held."""
        handling.set()
        threading.Event().wait()


class SendingHandler(logging.Handler):
    """Guards its connection with a lock of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.sending = threading.Lock()

    def emit(self, _record: logging.LogRecord) -> None:
        """Send without end, the connection's lock held."""
        with self.sending:
            handling.set()
            threading.Event().wait()


HANDLERS: Dict[str, Type[logging.Handler]] = {"handler": SharedLockHandler, "emit": SendingHandler}
log = logging.getLogger("train")


def report() -> None:
    """Log from a thread."""
    log.warning("loss 0.1")


def train() -> None:
    """Wait for ever: the logging thread was not copied."""
    log.warning("worker started")


def main(kind: str = "handler") -> None:
    """Fork while a thread logs."""
    log.addHandler(HANDLERS[kind]())
    reporter = threading.Thread(target=report, name="reporter", daemon=True)
    reporter.start()
    handling.wait()
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid, **where(reporter, "emit"))
    worker.join()


if __name__ == "__main__":
    main(*sys.argv[1:])

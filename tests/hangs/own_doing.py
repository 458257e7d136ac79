"""The forked child waits for a lock, and no thread of its parent has to do with it. The argument says what it did.

twice: it takes an ordinary lock a second time. parent-too: so does it, while the parent has its own copy. ended: a
thread of the child took the lock and has ended. after-fork: the lock is newer than the fork. limit: it waits with a
limit. retry: it asks for the lock again and again. queue: it waits for a queue, with a limit. signal: parent and child
are parked until a signal comes.
"""

from __future__ import annotations

import logging
import multiprocessing
import queue
import signal
import sys
import threading
from typing import Callable, Dict

from ready import announce, tasks

LONG = 900
fork = multiprocessing.get_context("fork")
lock = threading.Lock()
wake = threading.Lock()
tasks_to_do: queue.SimpleQueue[int] = queue.SimpleQueue()


def twice() -> None:
    """Wait for itself."""
    lock.acquire()
    lock.acquire()


def ended() -> None:
    """Wait for a thread of its own that took the lock and ended."""
    mine = threading.RLock()
    taker = threading.Thread(target=mine.acquire)
    taker.start()
    taker.join()
    mine.acquire()


def after_fork() -> None:
    """Wait for itself, in a handler of logging that it made."""
    handler = Stubborn()
    handler.own.acquire()
    journal = logging.getLogger("journal")
    journal.addHandler(handler)
    journal.error("never written")


class Stubborn(logging.Handler):
    """A handler with a lock of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.own = threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        """Wait for the lock."""
        del record
        with self.own:
            pass


def limit() -> None:
    """Wait for a long time, but not for ever."""
    lock.acquire()
    lock.acquire(timeout=LONG)


def retry() -> None:
    """Ask again and again."""
    lock.acquire()
    while not lock.acquire(timeout=0.1):
        pass


def from_queue() -> None:
    """Wait for a long time, but not for ever."""
    tasks_to_do.get(timeout=LONG)


def parked() -> None:
    """Wait until a signal's handler releases the lock."""
    signal.signal(signal.SIGUSR1, lambda *_: wake.release())
    wake.acquire()


CHILD: Dict[str, Callable[[], None]] = {
    "twice": twice,
    "parent-too": twice,
    "ended": ended,
    "after-fork": after_fork,
    "limit": limit,
    "retry": retry,
    "queue": from_queue,
    "signal": parked,
}


def main(what: str) -> None:
    """Fork the child, and wait for it."""
    if what == "signal":
        wake.acquire()
    child = fork.Process(target=CHILD[what])
    child.start()
    assert child.pid
    while tasks(child.pid)[child.pid][0] != "S":
        child.join(0.05)
    child.join(0.3)
    announce(child.pid)
    if what == "parent-too":
        with lock:
            child.join()
    elif what == "signal":
        parked()
    child.join()


if __name__ == "__main__":
    main(sys.argv[1])

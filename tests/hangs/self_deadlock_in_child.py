"""A hang in a forked worker that is no fork deadlock: its one thread takes twice a lock that it made after the fork."""

from __future__ import annotations

import multiprocessing
import threading

from ready import announce, wait_until_still


def train() -> None:
    """Wait for ever: the holder is oneself."""
    lock = threading.Lock()
    with lock:
        save(lock)


def save(lock: threading.Lock) -> None:
    """Take the lock that the caller has already taken."""
    with lock:
        pass


def main() -> None:
    """Fork the worker and join it."""
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid)
    worker.join()


if __name__ == "__main__":
    main()

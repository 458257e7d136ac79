"""Looks like a fork deadlock: the main thread of a forked worker waits for an event for ever, because it is told to.

Programs park their main thread so while signal handlers do the work. Nobody has taken any lock.
"""

from __future__ import annotations

import multiprocessing
import threading

from ready import announce, wait_until_still


def park() -> None:
    """Wait for a signal to end the process."""
    threading.Event().wait()


def main() -> None:
    """Fork the worker and join it."""
    worker = multiprocessing.get_context("fork").Process(target=park)
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid)
    worker.join()


if __name__ == "__main__":
    main()

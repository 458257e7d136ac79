"""A hang that is no fork deadlock: the worker cannot exit, as nobody reads what it has put into a queue.

The worker's main thread joins its QueueFeederThread, which stands in `write` to a full pipe. The parent joins the
worker before it reads: the order that the documentation of multiprocessing warns of.
"""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING

from ready import announce, wait_until_still

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

fork = multiprocessing.get_context("fork")


def train(results: Queue[bytes]) -> None:
    """Put more than the pipe takes."""
    results.put(b"x" * 1_000_000)


def main() -> None:
    """Join first, read later."""
    results: Queue[bytes] = fork.Queue()
    worker = fork.Process(target=train, args=(results,))
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid)
    worker.join()
    results.get()


if __name__ == "__main__":
    main()

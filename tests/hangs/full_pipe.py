"""A hang that is no fork deadlock: the parent joins a worker that waits for the parent to read its result.

The worker's result is larger than the pipe, and the parent reads only after the join.
"""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING

from ready import announce, wait_until_still

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

fork = multiprocessing.get_context("fork")


def train(results: Connection) -> None:
    """Send more than the pipe takes."""
    results.send_bytes(b"x" * 1_000_000)


def main() -> None:
    """Join first, read later: the wrong order."""
    receiver, results = fork.Pipe(duplex=False)
    worker = fork.Process(target=train, args=(results,))
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid)
    worker.join()
    receiver.recv_bytes()


if __name__ == "__main__":
    main()

"""Looks like a hang two levels deep: the parent joins its worker, and the worker joins one of its own, that computes.

Both joins are healthy; only the innermost process tells.
"""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING

from ready import announce, wait_until_busy, wait_until_still

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

fork = multiprocessing.get_context("fork")


def compute() -> None:
    """Compute."""
    loss = 1.0
    while True:
        loss = loss * 0.999 + 0.001


def train(told: Connection) -> None:
    """Fork the computer, tell its pid and join it."""
    computer = fork.Process(target=compute)
    computer.start()
    told.send(computer.pid)
    computer.join()


def main() -> None:
    """Fork the worker and join it."""
    heard, told = fork.Pipe(duplex=False)
    worker = fork.Process(target=train, args=(told,))
    worker.start()
    assert worker.pid
    grandchild = heard.recv()
    wait_until_busy(grandchild)
    wait_until_still(worker.pid)
    announce(worker.pid, grandchild=grandchild)
    worker.join()


if __name__ == "__main__":
    main()

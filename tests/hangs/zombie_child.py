"""A hang that is no fork deadlock: the worker has died, and the parent has not even noticed.

    zombie_child.py [queue|sleep]

"queue" (the default): the parent waits for a result that the worker can no longer put. "sleep": the parent sleeps. The
worker is a zombie: it has a pid, a parent and no stack.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from typing import TYPE_CHECKING

from ready import announce, tasks, wait_until

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

fork = multiprocessing.get_context("fork")


def train() -> None:
    """Die without a result."""
    os._exit(1)


def is_zombie(pid: int) -> bool:
    """Whether a process has ended and nobody has asked for its exit status."""
    return {state for state, _ in tasks(pid).values()} == {"Z"}


def read_result(results: Queue[float]) -> None:
    """Wait for a result."""
    results.get()


def sleep(_: Queue[float]) -> None:
    """Sleep."""
    time.sleep(1_000_000)


WAITS = {"queue": read_result, "sleep": sleep}


def main(wait: str = "queue") -> None:
    """Let the worker die, and wait for something else."""
    results: Queue[float] = fork.Queue()
    worker = fork.Process(target=train)
    worker.start()
    assert worker.pid
    wait_until(is_zombie, worker.pid)
    announce(worker.pid)
    WAITS[wait](results)


if __name__ == "__main__":
    main(*sys.argv[1:])

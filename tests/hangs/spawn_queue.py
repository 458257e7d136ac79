"""A hang without any fork: a worker started by `spawn` waits for a job in a queue, and the parent joins the worker."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING

from ready import announce, wait_until_still

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.queues import Queue


def train(jobs: Queue[str], told: Connection) -> None:
    """Say that it runs, and wait for a job."""
    told.send("running")
    jobs.get()


def main() -> None:
    """Start the worker and join it, but give it no job."""
    spawn = multiprocessing.get_context("spawn")
    jobs: Queue[str] = spawn.Queue()
    heard, told = spawn.Pipe(duplex=False)
    worker = spawn.Process(target=train, args=(jobs, told))
    worker.start()
    assert worker.pid
    heard.recv()
    wait_until_still(worker.pid)
    announce(worker.pid)
    worker.join()


if __name__ == "__main__":
    main()

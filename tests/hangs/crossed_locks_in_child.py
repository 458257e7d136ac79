"""A deadlock inside a forked worker that is no fork deadlock: both threads that hold the locks are the worker's own."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING

from crossed_locks import start_both
from ready import announce, wait_until_still

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

fork = multiprocessing.get_context("fork")


def train(told: Connection) -> None:
    """Start the two threads, tell their TIDs and join them."""
    threads = start_both()
    told.send([thread.native_id for thread in threads])
    for thread in threads:
        thread.join()


def main() -> None:
    """Fork the worker and join it."""
    heard, told = fork.Pipe(duplex=False)
    worker = fork.Process(target=train, args=(told,))
    worker.start()
    assert worker.pid
    thread_tids = heard.recv()
    wait_until_still(worker.pid)
    announce(worker.pid, thread_tids=thread_tids)
    worker.join()


if __name__ == "__main__":
    main()

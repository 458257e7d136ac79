"""Looks like a fork deadlock: a forked worker has threads of its own that wait for work, and joins them.

`queue.SimpleQueue` waits in C, so each thread seems to stand at a lock. All of it is healthy.
"""

from __future__ import annotations

import multiprocessing
import queue
import threading

from ready import announce, wait_until_still

THREADS = 3


def serve(jobs: queue.SimpleQueue[str]) -> None:
    """Do one job after the other."""
    while jobs.get():
        pass


def train() -> None:
    """Start the threads and join them."""
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    loaders = [threading.Thread(target=serve, args=(jobs,), name=f"loader {index}") for index in range(THREADS)]
    for loader in loaders:
        loader.start()
    for loader in loaders:
        loader.join()


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

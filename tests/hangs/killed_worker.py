"""A hang that is no fork deadlock: a worker of a `multiprocessing.Pool` was killed, as it is when memory runs out.

The pool replaces the worker but forgets its job, so the parent waits for a result that nobody will send. The workers
that are there are idle and healthy.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from typing import List, Set

from ready import LOOK_INTERVAL, announce, wait_until_still

WORKERS = 2


def train() -> None:
    """Be killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def worker_pids() -> Set[int]:
    """The pids of the workers that live now."""
    return {worker.pid for worker in multiprocessing.active_children() if worker.pid}


def replaced(before: Set[int]) -> List[int]:
    """Wait until the pool is full again; returns who was killed."""
    while len(worker_pids()) < WORKERS or worker_pids() == before:
        time.sleep(LOOK_INTERVAL)
    return sorted(before - worker_pids())


def main() -> None:
    """Wait for the result of a worker that was killed."""
    with multiprocessing.get_context("fork").Pool(WORKERS) as pool:
        before = worker_pids()
        result = pool.apply_async(train)
        killed = replaced(before)
        for worker in worker_pids():
            wait_until_still(worker)
        announce(killed=killed, workers=sorted(worker_pids()))
        result.get()


if __name__ == "__main__":
    main()

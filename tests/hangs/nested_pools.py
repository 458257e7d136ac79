"""Looks like a hang three levels deep: a worker of one pool waits for a worker of its own pool, which computes.

The parent waits for a ProcessPoolExecutor, whose worker waits for a `multiprocessing.Pool`. Of that pool's two workers
one computes and the other is idle. All of it is healthy.
"""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from typing import NoReturn

from ready import announce, wait_until_busy, wait_until_still

fork = multiprocessing.get_context("fork")
heard, told = fork.Pipe(duplex=False)


def compute() -> NoReturn:
    """Tell who computes, and compute."""
    told.send(os.getpid())
    loss = 1.0
    while True:
        loss = loss * 0.999 + 0.001


def search() -> None:
    """Hand the job to an inner pool, tell of its workers and wait."""
    with fork.Pool(2) as pool:
        told.send(sorted(worker.pid for worker in multiprocessing.active_children() if worker.pid))
        pool.apply(compute)


def main() -> None:
    """Hand the job to the outer pool and wait."""
    with ProcessPoolExecutor(1, mp_context=fork) as executor:
        result = executor.submit(search)
        grandchildren = heard.recv()
        grandchild = heard.recv()
        (worker,) = (child.pid for child in multiprocessing.active_children())
        assert worker
        wait_until_busy(grandchild)
        for idle in set(grandchildren) - {grandchild}:
            wait_until_still(idle)
        announce(worker, grandchild=grandchild, grandchildren=grandchildren)
        result.result()


if __name__ == "__main__":
    main()

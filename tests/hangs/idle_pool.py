"""Looks like a hang: three workers of a `multiprocessing.Pool` wait for jobs, and nobody has any.

One worker reads the job pipe, the others wait for its turn at the shared semaphore. All of it is healthy.
"""

from __future__ import annotations

import multiprocessing
import time

from ready import announce, wait_until_still

WORKERS = 3


def main() -> None:
    """Use the pool, then leave it idle."""
    with multiprocessing.get_context("fork").Pool(WORKERS) as pool:
        pool.map(abs, range(6))
        workers = sorted(worker.pid for worker in multiprocessing.active_children() if worker.pid)
        for worker in workers:
            wait_until_still(worker)
        announce(workers=workers)
        time.sleep(1_000_000)


if __name__ == "__main__":
    main()

"""The forked child waits for a thread that only the parent has: no lock is held, the one who would answer is missing.

As a native thread pool does it: `run` hands a job to the pool's thread and waits on a condition variable for the
answer. fork copies the pool's memory, but not its thread "pool".
"""

from __future__ import annotations

import ctypes
import multiprocessing
import threading

from ready import announce, wait_until_still, where

libc = ctypes.CDLL(None)
mutex = (ctypes.c_long * 8)()  # all zero is the static initializer, here and below
job_came = (ctypes.c_long * 8)()
job_done = (ctypes.c_long * 8)()
jobs = {"asked": 0, "done": 0}


def serve() -> None:
    """Do one job after the other."""
    libc.pthread_mutex_lock(ctypes.byref(mutex))
    while True:
        while jobs["done"] == jobs["asked"]:
            libc.pthread_cond_wait(ctypes.byref(job_came), ctypes.byref(mutex))
        jobs["done"] += 1
        libc.pthread_cond_signal(ctypes.byref(job_done))


def run() -> None:
    """Hand over a job and wait until it is done."""
    libc.pthread_mutex_lock(ctypes.byref(mutex))
    jobs["asked"] += 1
    libc.pthread_cond_signal(ctypes.byref(job_came))
    while jobs["done"] < jobs["asked"]:
        libc.pthread_cond_wait(ctypes.byref(job_done), ctypes.byref(mutex))
    libc.pthread_mutex_unlock(ctypes.byref(mutex))


def main() -> None:
    """Use the pool, then fork a worker that uses it too."""
    pool = threading.Thread(target=serve, name="pool", daemon=True)
    pool.start()
    run()
    worker = multiprocessing.get_context("fork").Process(target=run)
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid, address=ctypes.addressof(job_done), **where(pool, "serve"))
    worker.join()


if __name__ == "__main__":
    main()

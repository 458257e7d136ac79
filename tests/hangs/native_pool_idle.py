"""Looks like a fork deadlock: the parent has idle native threads, and its forked worker has none of them.

    native_pool_idle.py LIBRARY

LIBRARY is the compiled pool.c, whose threads wait for jobs. The worker does not use that library: it computes, and the
parent sleeps. All of it is healthy.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import sys
import time

from ready import announce, give_up, wait_until_busy

THREADS = 4


def train() -> None:
    """Compute."""
    loss = 1.0
    while True:
        loss = loss * 0.999 + 0.001


def main(path: str) -> None:
    """Start the native threads, fork the worker and sleep."""
    if ctypes.CDLL(path).start(THREADS) != 0:
        give_up(f"{path} could not start its threads.")
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_busy(worker.pid)
    announce(worker.pid)
    time.sleep(1_000_000)


if __name__ == "__main__":
    main(sys.argv[1])

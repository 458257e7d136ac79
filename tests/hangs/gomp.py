"""The forked child waits in libgomp for a team of threads that only the parent has.

    gomp.py LIBRARY

LIBRARY is the compiled parallel.c. The parent uses it, so libgomp starts its threads and keeps them for the next time.
fork copies libgomp's list of them, but not the threads; the child's first parallel loop waits for them without end.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import sys

from ready import announce, wait_until_still

THREADS = 4


def train(library: str) -> None:
    """Run one parallel loop."""
    ctypes.CDLL(library).total(ctypes.c_int(THREADS), ctypes.c_long(1000))


def main(library: str) -> None:
    """Use OpenMP, then fork a worker that uses it too."""
    train(library)
    worker = multiprocessing.get_context("fork").Process(target=train, args=(library,))
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid)
    worker.join()


if __name__ == "__main__":
    main(sys.argv[1])

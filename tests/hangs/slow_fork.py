"""Looks like a hang: the forked worker writes to a very big heap, and the kernel has to copy it page by page.

Nothing is stuck: the worker burns processor time, nearly all of it in the kernel, and the parent joins it. At most
512 MiB are used by both; the worker starts again when it is through, so that the state lasts.
"""

from __future__ import annotations

import mmap
import multiprocessing
from typing import NoReturn

from ready import announce, wait_until_busy

HEAP = 256 << 20
heap = mmap.mmap(-1, HEAP, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def touch_heap() -> None:
    """Write to each page of the heap."""
    for page in range(0, HEAP, mmap.PAGESIZE):
        heap[page] = 1


def train() -> NoReturn:
    """Write to the heap again and again, each page of it new."""
    while True:
        touch_heap()
        heap.madvise(mmap.MADV_DONTNEED)


def main() -> None:
    """Fill the heap, fork the worker and join it."""
    touch_heap()
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_busy(worker.pid)
    announce(worker.pid)
    worker.join()


if __name__ == "__main__":
    main()

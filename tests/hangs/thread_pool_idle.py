"""Looks like a hang: the threads of a ThreadPoolExecutor wait for jobs, and the main thread polls for input."""

from __future__ import annotations

import os
import select
import threading
from concurrent.futures import ThreadPoolExecutor

from ready import announce

THREADS = 4


def main() -> None:
    """Use the pool, then wait for input."""
    read_end, _ = os.pipe()
    poll = select.poll()
    poll.register(read_end, select.POLLIN)
    together = threading.Barrier(THREADS)
    with ThreadPoolExecutor(THREADS) as executor:
        list(executor.map(lambda _: together.wait(), range(THREADS)))
        announce()
        poll.poll()


if __name__ == "__main__":
    main()

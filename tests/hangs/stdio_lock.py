"""The forked child waits for the lock of a buffered stream in which a thread of the parent was printing at the fork.

The thread "printer" stands in `write` to a full pipe and holds the BufferedWriter's lock. fork copies the lock held,
but not the thread. The child prints to the same stream.
"""

from __future__ import annotations

import multiprocessing
import os
import select
import threading
import time

from ready import announce, wait_until_still, where

read_end, write_end = os.pipe()
log = os.fdopen(write_end, "w")


def report() -> None:
    """Print more than the pipe takes."""
    print("step " * 1_000_000, file=log, flush=True)


def train() -> None:
    """Wait for ever: the printing thread was not copied."""
    print("step", file=log, flush=True)


def main() -> None:
    """Fork while the stream is locked."""
    printer = threading.Thread(target=report, name="printer", daemon=True)
    printer.start()
    while select.select([], [write_end], [], 0)[1]:  # a full pipe: the printer stands in its write
        time.sleep(0.01)
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid, **where(printer, "report"))
    worker.join()


if __name__ == "__main__":
    main()

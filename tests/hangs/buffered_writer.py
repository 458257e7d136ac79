"""The forked child waits for the lock of a binary stream in which a thread of the parent was writing at the fork.

The thread "saver" stands in `write` to a full pipe and holds the BufferedWriter's lock. fork copies the lock held, but
not the thread. The child flushes the same stream.
"""

from __future__ import annotations

import multiprocessing
import os
import select
import threading
import time

from ready import announce, wait_until_still, where

read_end, write_end = os.pipe()
checkpoint = os.fdopen(write_end, "wb")


def save() -> None:
    """Write more than the pipe takes."""
    checkpoint.write(b"weight " * 1_000_000)


def train() -> None:
    """Wait for ever: the writing thread was not copied."""
    checkpoint.flush()


def main() -> None:
    """Fork while the stream is locked."""
    saver = threading.Thread(target=save, name="saver", daemon=True)
    saver.start()
    while select.select([], [write_end], [], 0)[1]:  # a full pipe: the saver stands in its write
        time.sleep(0.01)
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid, **where(saver, "save"))
    worker.join()


if __name__ == "__main__":
    main()

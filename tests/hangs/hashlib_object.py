"""The forked child waits for the lock of a hashlib object that a thread of the parent was updating at the fork.

`update` with much data gives the GIL away and holds the object's own lock. fork copies that lock held, but not the
thread "hasher". The hasher itself goes on for ever: nothing but the child hangs, and the parent burns a processor.
"""

from __future__ import annotations

import hashlib
import mmap
import multiprocessing
import multiprocessing.process
import threading
from typing import NoReturn

from ready import announce, is_still, where

ZEROS = 1 << 30  # bytes to hash at a time; all are the kernel's one page of zeros, so they take no memory
fork = multiprocessing.get_context("fork")
checksum = hashlib.sha256()
hashing = threading.Event()


def hash_shards() -> NoReturn:
    """Hash one shard after the other."""
    shard = mmap.mmap(-1, ZEROS, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
    hashing.set()
    while True:
        checksum.update(shard)


def train() -> None:
    """Wait for ever: the hashing thread was not copied."""
    checksum.update(b"worker")


def start_worker() -> multiprocessing.process.BaseProcess:
    """Fork workers until one hangs: between two shards the lock is free."""
    while True:
        worker = fork.Process(target=train)
        worker.start()
        while worker.exitcode is None:
            if worker.pid is not None and is_still(worker.pid):
                return worker


def main() -> None:
    """Fork while the object is in use."""
    hasher = threading.Thread(target=hash_shards, name="hasher", daemon=True)
    hasher.start()
    hashing.wait()
    worker = start_worker()
    announce(worker.pid, **where(hasher, "hash_shards"))
    worker.join()


if __name__ == "__main__":
    main()

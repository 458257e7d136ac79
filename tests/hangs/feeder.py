"""The forked child's queue feeder waits for an inherited lock, and the child's main thread joins the feeder at exit.

A `multiprocessing.Queue` pickles in a thread of its own, QueueFeederThread; here the pickled object wants a lock that
the thread "holder" of the parent held at the fork. The main thread has done its work and hangs all the same.
"""

from __future__ import annotations

import multiprocessing
import threading
from typing import TYPE_CHECKING, Dict

from ready import announce, wait_until_still, where

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

fork = multiprocessing.get_context("fork")
storage_lock = threading.Lock()


class Batch:
    """Shares its storage with other batches."""

    def __getstate__(self) -> Dict[str, int]:
        """Read the storage: wait for ever, as the holder was not copied."""
        with storage_lock:
            return {"samples": 32}


def hold(held: threading.Event) -> None:
    """Take the lock and never give it back."""
    with storage_lock:
        held.set()
        threading.Event().wait()


def load(batches: Queue[Batch]) -> None:
    """Put a batch into the queue."""
    batches.put(Batch())


def main() -> None:
    """Fork while the lock is held."""
    held = threading.Event()
    holder = threading.Thread(target=hold, args=(held,), name="holder", daemon=True)
    holder.start()
    held.wait()
    batches: Queue[Batch] = fork.Queue()
    worker = fork.Process(target=load, args=(batches,))
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid, **where(holder, "hold"))
    worker.join()


if __name__ == "__main__":
    main()

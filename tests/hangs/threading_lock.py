"""The forked child waits for a `threading.Lock` that a thread of the parent held at the fork.

fork copies the lock held, but not the thread "holder" that would release it.
"""

from __future__ import annotations

import multiprocessing
import threading

from ready import announce, wait_until_still, where

lock = threading.Lock()


def hold(held: threading.Event) -> None:
    """Take the lock and never give it back."""
    with lock:
        held.set()
        threading.Event().wait()


def train() -> None:
    """Wait for ever: the holder was not copied."""
    with lock:
        pass


def main() -> None:
    """Fork while the lock is held."""
    held = threading.Event()
    holder = threading.Thread(target=hold, args=(held,), name="holder", daemon=True)
    holder.start()
    held.wait()
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid, **where(holder, "hold"))
    worker.join()


if __name__ == "__main__":
    main()

"""The forked child has a thread of its own, and yet its main thread waits for a lock that nobody in it holds.

fork copies the lock held, but not the thread "holder" that would release it. The child's own thread "heartbeat" only
sleeps: not every fork deadlock is a process of one thread. With the argument `ticking` it wakes again and again: that
it moves says nothing of the main thread, which nobody will ever let go.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time

from ready import announce, wait_until_still, wait_until_task_still, where

TICKING = "ticking" in sys.argv
lock = threading.Lock()


def hold(held: threading.Event) -> None:
    """Take the lock and never give it back."""
    with lock:
        held.set()
        threading.Event().wait()


def beat() -> None:
    """Sleep until the next beat."""
    while True:
        time.sleep(0.05 if TICKING else 1_000_000)


def train() -> None:
    """Wait for ever: the holder was not copied."""
    threading.Thread(target=beat, name="heartbeat", daemon=True).start()
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
    wait = wait_until_task_still if TICKING else wait_until_still
    wait(worker.pid)
    announce(worker.pid, **where(holder, "hold"))
    worker.join()


if __name__ == "__main__":
    main()

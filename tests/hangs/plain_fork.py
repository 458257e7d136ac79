"""The same hang without multiprocessing: the program calls `os.fork()` itself and waits in `os.waitpid()`.

fork copies the lock held, but not the thread "holder" that would release it.
"""

from __future__ import annotations

import os
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


def start_worker() -> int:
    """Fork a worker; returns its pid."""
    pid = os.fork()
    if pid == 0:
        train()
        os._exit(0)
    return pid


def main() -> None:
    """Fork while the lock is held."""
    held = threading.Event()
    holder = threading.Thread(target=hold, args=(held,), name="holder", daemon=True)
    holder.start()
    held.wait()
    worker = start_worker()
    wait_until_still(worker)
    announce(worker, **where(holder, "hold"))
    os.waitpid(worker, 0)


if __name__ == "__main__":
    main()

"""The forked child spins on a pthread spin lock that a thread of the parent held at the fork: a live-lock.

As OpenMP and BLAS runtimes do it: the child burns a whole processor and never sleeps, so no system call gives it away.
fork copies the lock held, but not the thread "holder" that would release it.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import threading

from ready import announce, wait_until_busy, where

libc = ctypes.CDLL(None)
spin_lock = ctypes.c_int()


def hold(held: threading.Event) -> None:
    """Take the lock and never give it back."""
    libc.pthread_spin_lock(ctypes.byref(spin_lock))
    held.set()
    threading.Event().wait()


def train() -> None:
    """Spin for ever: the holder was not copied."""
    libc.pthread_spin_lock(ctypes.byref(spin_lock))


def main() -> None:
    """Fork while the lock is held."""
    libc.pthread_spin_init(ctypes.byref(spin_lock), 0)
    held = threading.Event()
    holder = threading.Thread(target=hold, args=(held,), name="holder", daemon=True)
    holder.start()
    held.wait()
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_busy(worker.pid)
    announce(worker.pid, address=ctypes.addressof(spin_lock), **where(holder, "hold"))
    worker.join()


if __name__ == "__main__":
    main()

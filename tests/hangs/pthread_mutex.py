"""The forked child waits for a pthread mutex that a thread of the parent held at the fork.

As a C library does it that locks around its global state: fork copies the mutex locked, but not the thread "holder"
that would unlock it. The mutex records the holder's TID, whatever its kind: normal, recursive, errorcheck or robust,
which is the argument.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import sys
import threading

from ready import announce, wait_until_still, where

libc = ctypes.CDLL(None)
mutex = (ctypes.c_long * 8)()  # all zero is PTHREAD_MUTEX_INITIALIZER; 40 bytes on x86_64, 48 on aarch64
TYPES = {"normal": 0, "recursive": 1, "errorcheck": 2}
ROBUST = 1


def initialise(kind: str) -> None:
    """Make it a mutex of this kind."""
    attributes = (ctypes.c_long * 2)()
    libc.pthread_mutexattr_init(ctypes.byref(attributes))
    libc.pthread_mutexattr_settype(ctypes.byref(attributes), TYPES.get(kind, 0))
    if kind == "robust":
        libc.pthread_mutexattr_setrobust(ctypes.byref(attributes), ROBUST)
    libc.pthread_mutex_init(ctypes.byref(mutex), ctypes.byref(attributes))


def hold(held: threading.Event) -> None:
    """Lock the mutex and never give it back."""
    libc.pthread_mutex_lock(ctypes.byref(mutex))
    held.set()
    threading.Event().wait()


def train() -> None:
    """Wait for ever: the holder was not copied."""
    libc.pthread_mutex_lock(ctypes.byref(mutex))


def main() -> None:
    """Fork while the mutex is held."""
    initialise(sys.argv[1] if len(sys.argv) > 1 else "normal")
    held = threading.Event()
    holder = threading.Thread(target=hold, args=(held,), name="holder", daemon=True)
    holder.start()
    held.wait()
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid, address=ctypes.addressof(mutex), **where(holder, "hold"))
    worker.join()


if __name__ == "__main__":
    main()

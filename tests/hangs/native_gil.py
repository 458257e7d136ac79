"""A deadlock without any fork: the main thread keeps the GIL and waits for a mutex whose holder waits for the GIL.

As a C extension does it that calls into its library without giving the GIL away. The process that hangs was started by
exec and cannot say anything any more, so its parent, which waits for it, does: `child` is the hung process.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import threading
from typing import NoReturn

from ready import announce, wait_until_task_still, where

HANG = "hang"
mutex = (ctypes.c_long * 8)()  # all zero is PTHREAD_MUTEX_INITIALIZER; 40 bytes on x86_64, 48 on aarch64


def hold(held: threading.Event) -> NoReturn:
    """Take the mutex, and come back for the GIL again and again."""
    libc = ctypes.CDLL(None)
    libc.pthread_mutex_lock(ctypes.byref(mutex))
    held.set()
    while True:
        libc.usleep(1000)


def lock_natively() -> None:
    """Wait for ever, the GIL held: the holder cannot go on without it."""
    ctypes.PyDLL(None).pthread_mutex_lock(ctypes.byref(mutex))


def hang() -> None:
    """Say what is to come, and deadlock."""
    held = threading.Event()
    holder = threading.Thread(target=hold, args=(held,), name="holder", daemon=True)
    holder.start()
    held.wait()
    facts = {"address": ctypes.addressof(mutex), **where(holder, "hold")}
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
    lock_natively()


def main() -> None:
    """Start the process that hangs, and wait for it."""
    with subprocess.Popen([sys.executable, __file__, HANG], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout
        facts = json.loads(worker.stdout.readline())
        wait_until_task_still(worker.pid)
        announce(worker.pid, **facts)
        worker.wait()


if __name__ == "__main__":
    if HANG in sys.argv:
        hang()
    else:
        main()

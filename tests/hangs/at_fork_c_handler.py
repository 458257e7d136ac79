"""The forked child hangs inside C's `fork()`: a handler of pthread_atfork wants an inherited mutex.

    at_fork_c_handler.py LIBRARY

LIBRARY is the compiled at_fork.c. A C library forks, here by ctypes, so CPython knows nothing of the fork: the child
keeps the parent's Python threads in its books, without their tasks. The thread "holder" has the mutex; the mutex
records its TID.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from typing import Dict

from ready import announce, give_up, wait_until_still, where

libc = ctypes.CDLL(None)


def hold(library: ctypes.CDLL, held: threading.Event, seen: Dict[str, int]) -> None:
    """Take the mutex and never give it back."""
    seen["address"] = library.take()
    held.set()
    threading.Event().wait()


def start_worker() -> int:
    """Fork a worker, which never begins; returns its pid."""
    pid = int(libc.fork())
    if pid == 0:
        os._exit(0)
    return pid


def main(path: str) -> None:
    """Fork while the mutex is held."""
    library = ctypes.CDLL(path)
    library.take.restype = ctypes.c_void_p
    if library.watch_forks() != 0:
        give_up(f"{path} could not set its handler.")
    held = threading.Event()
    seen: Dict[str, int] = {}
    holder = threading.Thread(target=hold, args=(library, held, seen), name="holder", daemon=True)
    holder.start()
    held.wait()
    worker = start_worker()
    wait_until_still(worker)
    announce(worker, **seen, **where(holder, "hold"))
    os.waitpid(worker, 0)


if __name__ == "__main__":
    main(sys.argv[1])

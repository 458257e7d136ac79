"""A training script that hangs, with the standard library alone. It says on one line of JSON when it hangs, and how.

On a CPython that has gh-112275 it makes that very hang: native threads enter the interpreter while the main thread
forks a worker. The threads run `PyMem_RawMalloc`, which with tracemalloc on enters the interpreter by
`PyGILState_Ensure`; no compiler is needed. On any other Python a thread holds a `threading.Lock` while a worker is
forked that needs it.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import sys
import threading
import time
import tracemalloc
from typing import Optional

FIRST_FIXED = {(3, 8): 20, (3, 9): 20, (3, 10): 15, (3, 11): 10}
"""The first release of each branch without gh-112275."""
TRY_FOR = 90.0
HANGS_AFTER = 2.0
"""A worker that has nothing to do and is not back after this many seconds hangs."""

fork = multiprocessing.get_context("fork")
lock = threading.Lock()
held = threading.Event()
stop = threading.Event()


def main() -> None:
    """Hang, and say so."""
    version = sys.version.split()[0]
    worker: Optional[multiprocessing.process.BaseProcess] = None
    if has_the_bug():
        worker = train_beside_native_threads()
        what = f"the real hang of gh-112275, because Python {version} has that bug"
    if worker is None:
        worker = train_beside_a_logger()
        why = f"Python {version} has no gh-112275"
        if has_the_bug():
            why = f"gh-112275 did not show itself within {TRY_FOR:.0f} s"
        what = f"a lock that another thread holds while a worker is forked, because {why}"
    print(json.dumps({"child": worker.pid, "what": what}), flush=True)
    worker.join()


def has_the_bug() -> bool:
    """Whether this interpreter's release has gh-112275."""
    fixed = FIRST_FIXED.get(sys.version_info[:2])
    return fixed is not None and sys.version_info[2] < fixed and sys.platform == "linux"


# --- gh-112275 -------------------------------------------------------------------------------------------------------


def train_beside_native_threads() -> Optional[multiprocessing.process.BaseProcess]:
    """Start workers until one hangs inside fork(); None if none did in time."""
    tracemalloc.start()
    for _ in range(2):
        threading.Thread(target=start_native_threads, name="native_runtime", daemon=True).start()
    limit = time.monotonic() + TRY_FOR
    worker = start_worker(nothing_to_do)
    while not hangs(worker):
        worker.close()
        if time.monotonic() > limit:
            return None
        worker = start_worker(nothing_to_do)
    stop.set()
    return worker


def start_native_threads() -> None:
    """Threads that are none of Python's, and that enter the interpreter for a moment."""
    libc = ctypes.CDLL(None)
    enter = ctypes.cast(ctypes.pythonapi.PyMem_RawMalloc, ctypes.c_void_p)
    thread, memory = ctypes.c_ulong(), ctypes.c_void_p()
    while not stop.is_set():
        libc.pthread_create(ctypes.byref(thread), None, enter, ctypes.c_void_p(8))
        libc.pthread_join(thread, ctypes.byref(memory))
        ctypes.pythonapi.PyMem_RawFree(memory)


def hangs(worker: multiprocessing.process.BaseProcess) -> bool:
    """Whether a worker that should be back at once is not."""
    worker.join(HANGS_AFTER)
    return worker.exitcode is None


def nothing_to_do() -> None:
    """What a worker does that is to end at once."""


# --- a lock of our own -----------------------------------------------------------------------------------------------


def train_beside_a_logger() -> multiprocessing.process.BaseProcess:
    """Start a worker while another thread holds a lock that the worker needs."""
    threading.Thread(target=log_metrics, name="metrics_logger", daemon=True).start()
    held.wait()
    worker = start_worker(load_batch)
    worker.join(HANGS_AFTER)
    return worker


def log_metrics() -> None:
    """Hold the lock for a very long time."""
    with lock:
        held.set()
        while not stop.is_set():
            time.sleep(1)


def load_batch() -> None:
    """What the worker does: it needs the lock."""
    with lock:
        pass


def start_worker(work: object) -> multiprocessing.process.BaseProcess:
    """Fork a worker."""
    worker = fork.Process(target=work, daemon=True)  # type: ignore[arg-type]
    worker.start()
    return worker


if __name__ == "__main__":
    main()

"""gh-112275: the forked child waits for HEAD_LOCK, CPython's own lock on its list of threads.

Native threads of the parent call into Python. Each entry (PyGILState_Ensure) takes HEAD_LOCK for a moment without the
GIL. When fork falls into that moment, the child inherits the lock held by a thread that it does not have, and
PyOS_AfterFork_Child waits for it before any Python runs. CPython before 3.8.20, 3.9.20, 3.10.15 and 3.11.10.

    head_lock.py [LIBRARY [SECONDS]]

LIBRARY is the compiled attach.c; without it (or with "-") native threads are made through ctypes, which takes longer.
Ends with status 3 if no fork has hung within SECONDS (default 60): so it does where the bug is mended.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import multiprocessing.process
import sys
import threading
import time
from typing import Callable, List, Optional

from ready import announce, give_up, is_still

NATIVE_THREADS = 2
QUICK = 1.0
DEFAULTS = ("-", "60")
fork = multiprocessing.get_context("fork")


def churn_natively(library: str) -> Callable[[], None]:
    """Let C threads enter and leave Python in a loop; returns what ends them."""
    attach = ctypes.CDLL(library)
    if attach.start(NATIVE_THREADS) != 0:
        give_up(f"{library} could not start its threads.")

    def end() -> None:
        attach.stop()

    return end


def churn_by_ctypes() -> Callable[[], None]:
    """Let native threads be born, enter Python and die in a loop; returns what ends them."""
    libc = ctypes.CDLL(None)
    callback = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: None)
    ended = threading.Event()

    def call_back() -> None:
        while not ended.is_set():
            native = ctypes.c_ulong()
            if libc.pthread_create(ctypes.byref(native), None, callback, None) == 0:
                libc.pthread_join(native, None)

    callers = [threading.Thread(target=call_back, name="caller", daemon=True) for _ in range(NATIVE_THREADS)]
    for caller in callers:
        caller.start()

    def end() -> None:
        ended.set()
        for caller in callers:
            caller.join()

    return end


def train() -> None:
    """Stand for the worker's job: a child that gets here has escaped."""


def start_worker() -> multiprocessing.process.BaseProcess:
    """Fork a worker."""
    worker = fork.Process(target=train)
    worker.start()
    return worker


def fork_until_one_hangs(seconds: float) -> Optional[multiprocessing.process.BaseProcess]:
    """Fork one worker after the other until one does not end; None if all have ended after so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        worker = start_worker()
        while worker.exitcode is None:
            worker.join(QUICK)
            if worker.exitcode is None and worker.pid is not None and is_still(worker.pid):
                return worker
    return None


def main(arguments: List[str]) -> None:
    """Make the hang, bring the parent to rest, and join the worker for ever."""
    library, seconds = (*arguments, *DEFAULTS[len(arguments) :])
    end_churn = churn_by_ctypes() if library == "-" else churn_natively(library)
    worker = fork_until_one_hangs(float(seconds))
    if worker is None:
        give_up(f"No worker hung in {seconds} s of forking: this Python seems to be without gh-112275.")
    else:
        end_churn()
        announce(worker.pid)
        worker.join()


if __name__ == "__main__":
    main(sys.argv[1:])

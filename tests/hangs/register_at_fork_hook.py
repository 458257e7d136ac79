"""The forked child hangs inside `os.fork()`: a hook of `os.register_at_fork` wants an inherited lock.

The hook runs in the child before fork returns, and the thread "holder" that has the lock was not copied. The target
function of the worker is never reached.
"""

from __future__ import annotations

import multiprocessing
import os
import threading

from ready import announce, wait_until_still, where

log_lock = threading.Lock()


def hold(held: threading.Event) -> None:
    """Take the lock and never give it back."""
    with log_lock:
        held.set()
        threading.Event().wait()


def reopen_log() -> None:
    """Stand for a hook that makes a library fit for the child."""
    with log_lock:
        pass


def train() -> None:
    """Stand for the worker's job, which never begins."""


def main() -> None:
    """Fork while the hook's lock is held."""
    os.register_at_fork(after_in_child=reopen_log)
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

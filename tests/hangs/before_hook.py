"""The parent hangs inside `os.fork()`: a hook that runs before the fork wants a lock that another thread holds.

There is no child yet. The holder is alive, and could let go; here it never does.
"""

from __future__ import annotations

import os
import threading

from ready import announce, wait_until_task_still, where

log_lock = threading.Lock()


def hold(held: threading.Event) -> None:
    """Take the lock and never give it back."""
    with log_lock:
        held.set()
        threading.Event().wait()


def lock_log() -> None:
    """Stand for a hook that lets nobody log while the process forks."""
    log_lock.acquire()


def start_worker() -> None:
    """Fork a worker, which never comes to be."""
    if os.fork() == 0:
        os._exit(0)


def main() -> None:
    """Fork in the thread "forker" while the hook's lock is held."""
    os.register_at_fork(before=lock_log)
    held = threading.Event()
    holder = threading.Thread(target=hold, args=(held,), name="holder", daemon=True)
    holder.start()
    held.wait()
    forker = threading.Thread(target=start_worker, name="forker")
    forker.start()
    assert forker.native_id
    wait_until_task_still(forker.native_id)
    announce(forker_tid=forker.native_id, forker_ident=forker.ident, **where(holder, "hold"))
    forker.join()


if __name__ == "__main__":
    main()

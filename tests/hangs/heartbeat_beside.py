"""The forked child's main thread waits for an inherited lock while another thread of the child ticks on.

That the ticking thread moves says nothing of the main thread, which nobody will ever let go.
"""

from __future__ import annotations

import multiprocessing
import threading
import time

from ready import announce, wait_until_task_still, where

lock = threading.Lock()


def hold(held: threading.Event) -> None:
    """Take the lock and never give it back."""
    with lock:
        held.set()
        threading.Event().wait()


def tick() -> None:
    """Show that the process lives."""
    while True:
        time.sleep(0.05)


def train() -> None:
    """Wait for ever, beside a thread that does not."""
    threading.Thread(target=tick, name="heartbeat", daemon=True).start()
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
    wait_until_task_still(worker.pid)
    announce(worker.pid, **where(holder, "hold"))
    worker.join()


if __name__ == "__main__":
    main()

"""A deadlock that is no fork deadlock: two threads of one process each hold the lock that the other wants."""

from __future__ import annotations

import threading
from typing import List

from ready import announce

orders = threading.Lock()
stock = threading.Lock()
both_hold_one = threading.Barrier(3)


def sell() -> None:
    """Take orders, then stock."""
    with orders:
        both_hold_one.wait()
        with stock:
            pass


def restock() -> None:
    """Take stock, then orders: the wrong order."""
    with stock:
        both_hold_one.wait()
        with orders:
            pass


def start_both() -> List[threading.Thread]:
    """Start the two threads; returns once each holds its first lock."""
    threads = [threading.Thread(target=target, name=target.__name__, daemon=True) for target in (sell, restock)]
    for thread in threads:
        thread.start()
    both_hold_one.wait()
    return threads


def main() -> None:
    """Join the two threads."""
    threads = start_both()
    announce(thread_tids=[thread.native_id for thread in threads])
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()

"""A hang that is no fork deadlock: a worker was killed while it held a `multiprocessing.Lock`; another waits for it.

That lock is a semaphore which all processes share. It was not copied by fork, and its holder lived, until the SIGKILL.
"""

from __future__ import annotations

import multiprocessing
import time
from typing import TYPE_CHECKING

from ready import announce, wait_until_still

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event, Lock

fork = multiprocessing.get_context("fork")


def write_log(lock: Lock, held: Event) -> None:
    """Take the lock and keep it."""
    with lock:
        held.set()
        time.sleep(1_000_000)


def train(lock: Lock) -> None:
    """Wait for ever: the holder is dead."""
    with lock:
        pass


def main() -> None:
    """Kill one worker and join the other."""
    lock, held = fork.Lock(), fork.Event()
    killed = fork.Process(target=write_log, args=(lock, held))
    killed.start()
    held.wait()
    killed.kill()
    killed.join()
    worker = fork.Process(target=train, args=(lock,))
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid, killed=killed.pid)
    worker.join()


if __name__ == "__main__":
    main()

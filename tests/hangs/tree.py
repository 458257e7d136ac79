"""The hang is two levels down: the worker waits for a lock that a thread of the trainer held at the fork.

The launcher joins the trainer and the trainer joins the worker. Both joins are healthy; the fork that copied the held
lock is the second one.
"""

from __future__ import annotations

import multiprocessing
import threading
from typing import TYPE_CHECKING

from ready import announce, wait_until_still, where

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

fork = multiprocessing.get_context("fork")
cache_lock = threading.Lock()


def fill_cache(held: threading.Event) -> None:
    """Take the lock and never give it back."""
    with cache_lock:
        held.set()
        threading.Event().wait()


def load_batch() -> None:
    """Wait for ever: the thread that fills the cache was not copied."""
    with cache_lock:
        pass


def train(told: Connection) -> None:
    """Fork the worker while the lock is held, tell of it and join it."""
    held = threading.Event()
    filler = threading.Thread(target=fill_cache, args=(held,), name="filler", daemon=True)
    filler.start()
    held.wait()
    worker = fork.Process(target=load_batch)
    worker.start()
    told.send({"grandchild": worker.pid, **where(filler, "fill_cache")})
    worker.join()


def launch() -> None:
    """Fork the trainer and join it."""
    heard, told = fork.Pipe(duplex=False)
    trainer = fork.Process(target=train, args=(told,))
    trainer.start()
    assert trainer.pid
    facts = heard.recv()
    wait_until_still(facts["grandchild"])
    announce(trainer.pid, **facts)
    trainer.join()


if __name__ == "__main__":
    launch()

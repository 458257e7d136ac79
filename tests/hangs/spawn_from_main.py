"""A hang without any fork: workers started by `spawn` cannot find a function that only this `__main__` has.

    spawn_from_main.py [initializer|job]

As in a notebook, where `__main__` is no file. "initializer" (the default): each worker dies as it starts, and the pool
starts the next one, without end. "job": one worker dies with the job, its replacement is idle, and nobody sends the
result. In both cases the parent waits for a result for ever, and stderr says "Can't get attribute".
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Set

if TYPE_CHECKING:
    from multiprocessing.pool import AsyncResult

    Start = Callable[[], AsyncResult[Any]]

spawn = multiprocessing.get_context("spawn")


def train() -> None:
    """Stand for the job, or the initializer, of a worker that never finds it."""


def start_by_initializer() -> AsyncResult[int]:
    """Start a pool whose initializer is here."""
    return spawn.Pool(1, train).apply_async(abs, (1,))


def start_by_job() -> AsyncResult[None]:
    """Start a pool whose job is here."""
    return spawn.Pool(1).apply_async(train)


STARTS: Dict[str, Start] = {"initializer": start_by_initializer, "job": start_by_job}
DEATHS = {"initializer": 2, "job": 1}


def wait_for_deaths(deaths: int) -> Set[int]:
    """Wait until so many workers have died and been replaced; returns the pids of all, the last one living."""
    seen: Set[int] = set()
    while len(seen) <= deaths:
        seen |= {worker.pid for worker in multiprocessing.active_children() if worker.pid}
        time.sleep(0.01)
    return seen


def main(kind: str = "initializer") -> None:
    """Wait for a result that never comes."""
    from ready import announce

    result = STARTS[kind]()
    seen = wait_for_deaths(DEATHS[kind])
    announce(workers=sorted(seen))
    result.get()


def run_without_file() -> None:
    """Become the same program, read from a string as a notebook's cells are."""
    source = Path(__file__)
    environment = {**os.environ, "PYTHONPATH": str(source.parent)}
    command = [sys.executable, "-c", source.read_text(), *sys.argv[1:]]
    os.execve(sys.executable, command, environment)  # noqa: S606  # a shell is not wanted


if __name__ == "__main__":
    if "__file__" in globals():
        run_without_file()
    else:
        main(*sys.argv[1:])

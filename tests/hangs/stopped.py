"""Looks like a hang: the forked worker was stopped by a signal, and the parent joins it. SIGCONT would let it go on."""

from __future__ import annotations

import multiprocessing
import os
import signal

from ready import announce, tasks, wait_until


def train() -> None:
    """Be stopped."""
    os.kill(os.getpid(), signal.SIGSTOP)


def is_stopped(pid: int) -> bool:
    """Whether every task of a process is stopped."""
    return {state for state, _ in tasks(pid).values()} == {"T"}


def main() -> None:
    """Fork the worker and join it."""
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until(is_stopped, worker.pid)
    announce(worker.pid)
    worker.join()


if __name__ == "__main__":
    main()

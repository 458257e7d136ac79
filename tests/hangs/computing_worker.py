"""Looks like a hang: the forked worker computes for a long time, and the parent joins it. All of it is healthy."""

from __future__ import annotations

import multiprocessing

from ready import announce, wait_until_busy


def train() -> None:
    """Compute."""
    loss = 1.0
    while True:
        loss = loss * 0.999 + 0.001


def main() -> None:
    """Fork the computer and join it."""
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_busy(worker.pid)
    announce(worker.pid)
    worker.join()


if __name__ == "__main__":
    main()

"""Looks like a hang: the forked worker sleeps for a long time, and the parent joins it. It will wake up."""

from __future__ import annotations

import multiprocessing
import time

from ready import announce, wait_until_still


def train() -> None:
    """Sleep."""
    time.sleep(1_000_000)


def main() -> None:
    """Fork the sleeper and join it."""
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid)
    worker.join()


if __name__ == "__main__":
    main()

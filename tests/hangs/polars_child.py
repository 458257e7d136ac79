"""The forked child waits in Polars for the threads of its pool, which only the parent has. Needs Polars.

The parent uses Polars, so its threads start. fork copies Polars' list of them, but not the threads.
"""

# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import multiprocessing

import polars as pl
from ready import announce, wait_until_still


def count_groups() -> int:
    """Run one query."""
    return int(pl.DataFrame({"user": range(1000)}).group_by("user").len().height)


def main() -> None:
    """Use Polars, then fork a worker that uses it too."""
    count_groups()
    worker = multiprocessing.get_context("fork").Process(target=count_groups)
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid, polars=pl.__version__)
    worker.join()


if __name__ == "__main__":
    main()

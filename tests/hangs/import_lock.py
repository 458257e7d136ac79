"""The forked child waits for the lock of a module that a thread of the parent was importing at the fork.

importlib holds one lock a module while its body runs. fork copies it held, but not the thread "importer".
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time

from ready import announce, wait_until_still, where


def load() -> None:
    """Import the module, without end."""
    import slow_module  # noqa: F401


def train() -> None:
    """Wait for ever: the importing thread was not copied."""
    import slow_module  # noqa: F401


def main() -> None:
    """Fork while the module is being imported."""
    importer = threading.Thread(target=load, name="importer", daemon=True)
    importer.start()
    while "slow_module" not in sys.modules:
        time.sleep(0.01)
    worker = multiprocessing.get_context("fork").Process(target=train)
    worker.start()
    assert worker.pid
    wait_until_still(worker.pid)
    announce(worker.pid, **where(importer, "load"))
    worker.join()


if __name__ == "__main__":
    main()

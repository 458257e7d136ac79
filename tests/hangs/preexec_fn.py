"""gh-112275 in a subprocess: with `preexec_fn`, Popen forks as os.fork does, and the child hangs before it can exec.

    preexec_fn.py LIBRARY [SECONDS]

LIBRARY is the compiled attach.c, whose native threads call into Python (see head_lock.py). The parent stands inside
Popen, in `os.read` from the pipe by which the child would report an error. The child has the parent's command line.
Ends with status 3 if no child has hung within SECONDS (default 60): so it does where the bug is mended.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Optional

from ready import LOOK_INTERVAL, announce, give_up, is_still

NATIVE_THREADS = 2
PROGRAM = ["/bin/true"]


def lower_priority() -> None:
    """Stand for what a child does between fork and exec."""


def run_program() -> None:
    """Run the program once."""
    subprocess.run(PROGRAM, preexec_fn=lower_priority, check=True)


def run_until_one_hangs() -> None:
    """Run the program again and again: the main thread never returns from the Popen that hangs."""
    while True:
        run_program()


def forked_child() -> Optional[int]:
    """Pid of a child that sleeps for good; None if there is none."""
    me = str(os.getpid())
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = stat.read_text().rpartition(")")[2].split()[1]
        except (FileNotFoundError, ProcessLookupError):  # it ended between the listing and the look
            continue
        if parent == me and is_still(int(stat.parent.name)):
            return int(stat.parent.name)
    return None


def watch(library: ctypes.CDLL, seconds: float) -> None:
    """Wait until a child hangs, bring the native threads to rest and tell."""
    deadline = time.monotonic() + seconds
    child = forked_child()
    while child is None:
        if time.monotonic() > deadline:
            give_up(f"No child hung in {seconds:g} s of forking: this Python seems to be without gh-112275.")
        time.sleep(LOOK_INTERVAL)
        child = forked_child()
    library.stop()
    announce(child)


def main(path: str, seconds: str = "60") -> None:
    """Make the hang; the main thread stays inside Popen."""
    library = ctypes.CDLL(path)
    if library.start(NATIVE_THREADS) != 0:
        give_up(f"{path} could not start its threads.")
    threading.Thread(target=watch, args=(library, float(seconds)), name="watcher", daemon=True).start()
    run_until_one_hangs()


if __name__ == "__main__":
    main(*sys.argv[1:])

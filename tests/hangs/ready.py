"""What the programs beside this one share: each prints one line of JSON once its hang is in place.

Facts in, a line on stdout out. Standard library alone, CPython 3.8 to 3.14, Linux. Nothing here makes a hang.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Dict, NoReturn, Optional, Tuple

if TYPE_CHECKING:
    import threading

LOOK_INTERVAL = 0.1
PATIENCE = 30.0
BUSY_TICKS = 3


def announce(child: Optional[int] = None, **facts: object) -> None:
    """Print the one line that says: the hang is there, look now."""
    sys.stdout.write(json.dumps({"ready": True, "parent": os.getpid(), "child": child, **facts}) + "\n")
    sys.stdout.flush()


def where(thread: threading.Thread, function: str) -> Dict[str, object]:
    """Say which thread holds the lock, and the file and line at which it now stands in `function`."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001  # the only way to another thread's line
    while frame is not None and frame.f_code.co_name != function:
        frame = frame.f_back
    return {
        "holder": thread.name,
        "holder_tid": thread.native_id,
        "holder_ident": thread.ident,
        "function": function,
        "file": None if frame is None else frame.f_code.co_filename,
        "line": None if frame is None else frame.f_lineno,
    }


def tasks(pid: int) -> Dict[int, Tuple[str, int]]:
    """State letter and context switches of each task of a process, by TID; empty once it has ended."""
    found = {}
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except (FileNotFoundError, ProcessLookupError):  # it ended between the listing and the look
            continue
        switches = int(lines["voluntary_ctxt_switches"]) + int(lines["nonvoluntary_ctxt_switches"])
        found[int(status.parent.name)] = (lines["State"].strip()[0], switches)
    return found


def cpu_ticks(pid: int) -> int:
    """User and system time of a process in clock ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def is_still(pid: int) -> bool:
    """Whether every task of a process sleeps, and none ran between two looks."""
    before = tasks(pid)
    time.sleep(LOOK_INTERVAL)
    return bool(before) and tasks(pid) == before and all(state == "S" for state, _ in before.values())


def is_task_still(tid: int) -> bool:
    """Whether one task of any process sleeps and did not run between two looks, whatever its siblings do."""
    before = tasks(tid).get(tid)
    time.sleep(LOOK_INTERVAL)
    return before is not None and before[0] == "S" and tasks(tid).get(tid) == before


def is_busy(pid: int) -> bool:
    """Whether a process burns processor time between two looks."""
    before = cpu_ticks(pid)
    time.sleep(LOOK_INTERVAL)
    return cpu_ticks(pid) - before >= BUSY_TICKS


def wait_until_still(pid: int) -> None:
    """Return once the process sleeps for good, or end the program with status 3."""
    wait_until(is_still, pid)


def wait_until_task_still(tid: int) -> None:
    """Return once the task sleeps for good, or end the program with status 3."""
    wait_until(is_task_still, tid)


def wait_until_busy(pid: int) -> None:
    """Return once the process burns processor time, or end the program with status 3."""
    wait_until(is_busy, pid)


def wait_until(claim: Callable[[int], bool], pid: int) -> None:
    """Return once the claim holds of the process, or end the program with status 3."""
    deadline = time.monotonic() + PATIENCE
    while not claim(pid):
        if time.monotonic() > deadline:
            give_up(f"Task {pid} did not get there in {PATIENCE:.0f} s: {claim.__name__} is still false.")


def give_up(reason: str) -> NoReturn:
    """End the program at once, whatever its children do, with status 3 and the reason on stderr."""
    sys.stderr.write(f"{reason}\n")
    sys.stderr.flush()
    os._exit(3)

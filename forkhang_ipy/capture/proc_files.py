"""One folder of /proc in, what its files say out. A file that is gone or forbidden is None; nothing is raised."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Tuple

PROC = Path("/proc")

# Numbered as in proc_pid_stat(5), less the pid and the name that stand before the state (field 3).
_STATE, _PARENT, _FLAGS, _USER_TICKS, _SYSTEM_TICKS, _STARTED = (n - 3 for n in (3, 4, 9, 14, 15, 22))
# startstack, start_brk, start_code, start_data, arg_start, env_start
_LAYOUT = tuple(n - 3 for n in (28, 47, 26, 45, 48, 50))


@dataclass(frozen=True)
class Stat:
    """One line of /proc/PID/stat."""

    name: str
    state: str
    parent: int
    flags: int
    ticks: int
    started: int
    layout: Tuple[int, ...]
    """The addresses that each exec draws anew; empty where we may not see them."""


def text(path: Path) -> Optional[str]:
    """The file's text, undecodable bytes replaced."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def link(path: Path) -> Optional[str]:
    """Where the symbolic link points."""
    try:
        return os.readlink(path)
    except OSError:
        return None


def numbered(folder: Path) -> Tuple[int, ...]:
    """The entries of a folder that are numbers, in order: pids, TIDs, descriptors; empty where we may not list it."""
    try:
        return tuple(sorted(int(entry.name) for entry in folder.iterdir() if entry.name.isdigit()))
    except OSError:
        return ()


def may_list(folder: Path) -> bool:
    """Whether the folder is there and ours to list."""
    try:
        next(folder.iterdir(), None)
    except OSError:
        return False
    return True


def stat(folder: Path) -> Optional[Stat]:
    """What `stat` says of the process or task in this folder."""
    line = text(folder / "stat")
    if not line or ")" not in line:
        return None
    # The name may itself hold spaces and brackets.
    before, _, after = line.rpartition(")")
    fields: List[str] = after.split()
    return Stat(
        name=before.partition("(")[2],
        state=fields[_STATE],
        parent=int(fields[_PARENT]),
        flags=int(fields[_FLAGS]),
        ticks=int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS]),
        started=int(fields[_STARTED]),
        # The kernel writes 0, and 1 for start_code, to those without ptrace permission.
        layout=tuple(address for address in (int(fields[n]) for n in _LAYOUT if n < len(fields)) if address > 1),
    )


def status(folder: Path) -> Dict[str, str]:
    """The lines of `status`, by name; empty where it cannot be read."""
    lines = (text(folder / "status") or "").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def states(folder: Path) -> Dict[int, str]:
    """The state letter of each task of the process in this folder, by TID."""
    looks = ((tid, stat(folder / "task" / str(tid))) for tid in numbered(folder / "task"))
    return {tid: look.state for tid, look in looks if look}


def tracer(folder: Path) -> Optional[int]:
    """The pid of the debugger that holds the process or task in this folder."""
    return int(status(folder).get("TracerPid", "0")) or None

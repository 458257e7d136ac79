"""The last look at each process in, out: who else has open, or has mapped, what its tasks wait for.

`ends/1` records tell of pipes and sockets, `sharers/1` records of futex words in shared memory. One pass over /proc
answers for all of them. Nothing is attached to.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Dict, Iterator, List, Mapping, Optional, Set, Tuple, TypedDict

from forkhang_ipy.capture import descriptors, maps, proc_files, procfs, syscalls
from forkhang_ipy.capture.address_space import POINTER, AddressSpace, opened

if TYPE_CHECKING:
    from pathlib import Path

    from forkhang_ipy.capture.procfs import ProcRecord
    from forkhang_ipy.capture.sources import Limits

ENDS, SHARERS = "ends/1", "sharers/1"

_MOST_SECONDS = 1.0
"""A machine with a thousand processes takes a fifth of this; what is not reached counts as unseen."""
_LONGEST_COMMAND = 200
"""Enough to know it by; some carry a whole program."""

File = Tuple[str, int]


class End(TypedDict):
    """A process that has the resource open, and for what."""

    pid: int
    mode: str
    command: str


@dataclass(frozen=True)
class _Shared:
    """A futex word that other processes can have as well."""

    word: int
    pid: int
    name: Optional[str]
    file: File
    offset: int
    value: bytes


@dataclass
class _Found:
    """What one pass over /proc has found."""

    ends: Dict[str, List[End]] = field(default_factory=dict)
    pids: Dict[File, List[int]] = field(default_factory=dict)
    unseen: int = 0


def records(looks: Mapping[int, ProcRecord], limits: Limits, root: Path = proc_files.PROC) -> List[str]:
    """A record for each pipe or socket, and for each shared futex word, that a task waits for."""
    waiters: Dict[str, Set[Tuple[int, int]]] = {}
    shared: List[_Shared] = []
    for look in looks.values():
        if not syscalls.uninterruptible(look):
            with opened(root / str(look["pid"])) as space:
                shared += _shared(space, look)
                for resource, tid in descriptors.waited_for(space, look):
                    waiters.setdefault(resource, set()).add((look["pid"], tid))
    found = _pass(set(waiters), {each.file for each in shared}, limits, root) if waiters or shared else _Found()
    ends = [_ends(resource, sorted(tasks), found) for resource, tasks in sorted(waiters.items())]
    return ends + [_sharers(each, found) for each in shared]


def _shared(space: AddressSpace, look: ProcRecord) -> Iterator[_Shared]:
    for word in sorted({wait.word for wait in syscalls.futexes(look)}):
        mapping = space.mapping(word)
        if mapping and mapping.shared:
            offset = mapping.offset + word - mapping.low
            yield _Shared(word, look["pid"], mapping.name, mapping.file, offset, space.read(word, POINTER.size))


# --- one pass over all processes -------------------------------------------------------------------------------------


def _pass(resources: Set[str], files: Set[File], limits: Limits, root: Path) -> _Found:
    found = _Found()
    deadline = time.monotonic() + _MOST_SECONDS
    for pid in proc_files.numbered(root):
        limits.pause(0)
        folder = root / str(pid)
        if time.monotonic() > deadline or not proc_files.may_list(folder / "fd"):
            found.unseen += bool(proc_files.stat(folder))
            continue
        # A process in state D may hold up whoever reads its mappings.
        if files and "D" not in proc_files.states(folder).values():
            for file in {mapping.file for mapping in maps.read(folder)} & files:
                found.pids.setdefault(file, []).append(pid)
        for resource, mode in _open(folder, resources) if resources else ():
            found.ends.setdefault(resource, []).append(End(pid=pid, mode=mode, command=_command(folder)))
    return found


def _open(folder: Path, resources: Set[str]) -> Iterator[Tuple[str, str]]:
    """Which of these the process has open, and whether for reading, writing or both."""
    modes: Dict[str, Set[str]] = {}
    for number in proc_files.numbered(folder / "fd"):
        name = proc_files.link(folder / "fd" / str(number))
        if name in resources:
            modes.setdefault(name, set()).update(procfs.mode(folder, number) or "")
    return ((name, "".join(sorted(letters))) for name, letters in modes.items())


def _command(folder: Path) -> str:
    return (proc_files.text(folder / "cmdline") or "").replace("\0", " ").strip()[:_LONGEST_COMMAND]


# --- records ---------------------------------------------------------------------------------------------------------


def _ends(resource: str, waiters: List[Tuple[int, int]], found: _Found) -> str:
    document = {
        "forkhang": ENDS,
        "resource": resource,
        "ends": found.ends.get(resource, []),
        "unseen": found.unseen,
        "waiters": [{"pid": pid, "tid": tid} for pid, tid in waiters],
    }
    return json.dumps(document, separators=(",", ":"))


def _sharers(shared: _Shared, found: _Found) -> str:
    document = {
        "forkhang": SHARERS,
        "word": hex(shared.word),
        "pid": shared.pid,
        "file": shared.name,
        "inode": shared.file[1],
        "offset": shared.offset,
        "processes": found.pids.get(shared.file, []),
        "value": shared.value.hex(),
        "unseen": found.unseen,
    }
    return json.dumps(document, separators=(",", ":"))

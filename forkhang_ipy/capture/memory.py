"""The last look at each process in, `memory/1` records out: the bytes at the futex words that their tasks wait for.

The same words are read in the parent, where the originals of inherited locks are. Nothing is attached to.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Sequence, Set, TypedDict

from forkhang_ipy.capture import maps, proc_files

if TYPE_CHECKING:
    from pathlib import Path

    from forkhang_ipy.capture.procfs import ProcRecord

FORMAT = "memory/1"

_FUTEX = {"x86_64": "202", "aarch64": "98"}
_LENGTH = 48
"""Enough for a whole pthread mutex."""


class Word(TypedDict):
    """What stands at one futex word and behind it."""

    address: str
    hex: str
    mapping: Optional[str]
    shared: bool


def records(looks: Mapping[int, ProcRecord], root: Path = proc_files.PROC) -> List[str]:
    """A record for each process in which one of the words can be read."""
    wanted: Dict[int, Set[int]] = {pid: set() for pid in looks}
    for pid, look in looks.items():
        addresses = _futexes(look)
        wanted[pid] |= addresses
        if look["parent"] in wanted:
            wanted[look["parent"]] |= addresses
    found = ((pid, _words(root / str(pid), sorted(addresses))) for pid, addresses in wanted.items() if addresses)
    return [
        json.dumps({"forkhang": FORMAT, "pid": pid, "words": words}, separators=(",", ":"))
        for pid, words in found
        if words
    ]


def _futexes(look: ProcRecord) -> Set[int]:
    """The first argument of each futex call that a task is in."""
    calls = ((task["syscall"] or "").split() for task in look["tasks"])
    return {int(call[1], 16) for call in calls if call and call[0] == _FUTEX.get(look["machine"])}


def _words(folder: Path, addresses: Sequence[int]) -> List[Word]:
    mappings = maps.read(folder)
    try:
        memory = os.open(folder / "mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        words = (_word(memory, address, maps.around(mappings, address)) for address in addresses)
        return [word for word in words if word]
    finally:
        os.close(memory)


def _word(memory: int, address: int, mapping: Optional[maps.Mapping]) -> Optional[Word]:
    """The bytes at the address; None where nothing is mapped or it cannot be read."""
    if not mapping:
        return None
    try:
        content = os.pread(memory, _LENGTH, address)
    except (OSError, OverflowError):
        return None
    return Word(address=hex(address), hex=content.hex(), mapping=mapping.name, shared=mapping.shared)

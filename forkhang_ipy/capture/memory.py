"""The last look at each process in, `memory/1` records out: the bytes at the futex words that their tasks wait for.

The same words are read in the parent, where the originals of inherited locks are. Nothing is attached to.

From CPython 3.13 on a thread that waits for a `PyMutex` sleeps on a semaphore on its own stack, and the word before it
is the mutex's address (`struct wait_entry` of Python/parking_lot.c): the mutex is then read as a further word.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, TypedDict

from forkhang_ipy.capture import proc_files, python_version, syscalls
from forkhang_ipy.capture.address_space import POINTER, AddressSpace, opened

if TYPE_CHECKING:
    from pathlib import Path

    from forkhang_ipy.capture.procfs import ProcRecord

FORMAT = "memory/1"

_LENGTH = 48
"""Enough for a whole pthread mutex."""
_BEFORE = 16
"""malloc's own word, with the size of the block, is the last of these."""
_MUTEX_LENGTH = 16
_FIRST_WITH_MUTEXES = (3, 13)


class Word(TypedDict):
    """What stands at one futex word, behind it and before it."""

    address: str
    hex: str
    before: str
    mapping: Optional[str]
    shared: bool


def records(looks: Mapping[int, ProcRecord], root: Path = proc_files.PROC) -> List[str]:
    """A record for each process whose memory may be read; a word where nothing is mapped has no bytes."""
    wanted: Dict[int, Dict[int, int]] = {pid: {} for pid in looks}
    for pid, look in looks.items():
        words = _words_of(look, root)
        wanted[pid].update(words)
        wanted.get(look["parent"], {}).update(words)
    found = ((pid, _read(root / str(pid), words)) for pid, words in wanted.items() if words)
    return [
        json.dumps({"forkhang": FORMAT, "pid": pid, "words": words}, separators=(",", ":"))
        for pid, words in found
        if words
    ]


def mutex_behind(space: AddressSpace, wait: syscalls.Futex, look: ProcRecord) -> Optional[int]:
    """The address of the PyMutex that this task really waits for; None where it waits for the word itself."""
    has_mutexes = python_version.minor(look["python"]) >= _FIRST_WITH_MUTEXES
    own_stack = space.mapping(wait.call.stack_pointer)
    if not has_mutexes or not own_stack or not own_stack.low <= wait.word < own_stack.high:
        return None
    address = space.pointer(wait.word - POINTER.size)
    mapping = space.mapping(address) if address else None
    return address if mapping and mapping.writable else None


def _words_of(look: ProcRecord, root: Path) -> Dict[int, int]:
    """The words that a task is asleep at, or that it really waits for, each with the length that is of interest."""
    waits = tuple(syscalls.futexes(look))
    if not waits or syscalls.uninterruptible(look):
        return {}
    with opened(root / str(look["pid"])) as space:
        mutexes = {mutex_behind(space, wait, look) for wait in waits}
    lengths: Dict[int, int] = {mutex: _MUTEX_LENGTH for mutex in mutexes if mutex is not None}
    return {**lengths, **{wait.word: _LENGTH for wait in waits}}


def _read(folder: Path, words: Mapping[int, int]) -> List[Word]:
    with opened(folder) as space:
        found = (_word(space, address, length) for address, length in sorted(words.items()))
        return [word for word in found if word]


def _word(space: AddressSpace, address: int, length: int) -> Optional[Word]:
    """The bytes at the address; none where nothing is mapped there, and None where we may not look."""
    mapping = space.mapping(address)
    if not mapping:
        return Word(address=hex(address), hex="", before="", mapping=None, shared=False) if space.mappings else None
    content = space.read(address, length)
    if not content:
        return None
    before = space.read(address - _BEFORE, _BEFORE)
    return Word(
        address=hex(address),
        hex=content.hex(),
        before=before.hex() if len(before) == _BEFORE else "",
        mapping=mapping.name,
        shared=mapping.shared,
    )

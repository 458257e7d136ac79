"""The last look at each process in, `objects/1` records out: what the locks belong to that Python's threads wait for.

A lock of the threading module, of a buffered stream, of a hashlib object is an object that points to a semaphore, and
only the semaphore is known to the kernel. Beside that pointer stand the object's type and, for some types, the owner.
The waiting thread's stack nearly always leads to the object; where it does not, the process's memory is searched for
the pointer. Nothing is attached to, nobody stops.
"""

from __future__ import annotations

import json
import struct
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, TypedDict

from forkhang_ipy.capture import elf, maps, memory, proc_files, referrers, search, syscalls
from forkhang_ipy.capture.address_space import POINTER, AddressSpace, opened
from forkhang_ipy.capture.python_objects import Objects
from forkhang_ipy.capture.search import Effort

if TYPE_CHECKING:
    from pathlib import Path

    from forkhang_ipy.capture.procfs import ProcRecord
    from forkhang_ipy.capture.sources import Limits

FORMAT = "objects/1"

_ALL_SECONDS = 5.0
"""For all processes together. The workers of one fork have their locks in one place, so that only the first is dear."""
_NAME_SECONDS = 1.0
"""Names, and the owner of an import lock, are told by the stacks as well; type and owner of other locks are not."""
_INNERMOST_CALLS = 4096
"""Bytes of stack: from the futex call out to the method of the lock object it is some hundreds."""
_LARGEST_HEAD = 256
_BEFORE, _AFTER = 128, 64
_MOST_WAITERS = 1 << 16
_SEMAPHORE = struct.Struct("<IIQ")
_MOST_HITS = 16
"""A word on a deep stack has many copies; they tell nothing."""


class Hit(TypedDict):
    """A place where a lock belongs to something: a pointer to it, or the lock itself."""

    word: str
    at: str
    mapping: Optional[str]
    stack: bool
    before: str
    after: str
    parent_after: Optional[str]
    object: Optional[str]
    type: Optional[str]
    offset: Optional[int]
    symbol: Optional[str]
    variable: Optional[str]
    module: Optional[str]
    owner: Optional[str]


@dataclass
class _Known:
    """What the processes before had, and where: their siblings have it there as well."""

    places: Dict[int, List[int]] = field(default_factory=dict)
    """By futex word, where pointers to it stood."""
    references: Dict[int, Optional[int]] = field(default_factory=dict)
    """By lock object, where something refers to it that tells its name; None where a search found nothing."""


@dataclass(frozen=True)
class _Process:
    """One process, open."""

    look: ProcRecord
    space: AddressSpace
    parent: Optional[AddressSpace]
    objects: Objects
    images: elf.Images
    stack_pointers: Tuple[int, ...]

    def is_stack(self, mapping: maps.Mapping) -> bool:
        return any(mapping.low <= pointer < mapping.high for pointer in self.stack_pointers)


def records(looks: Mapping[int, ProcRecord], target: int, limits: Limits, root: Path = proc_files.PROC) -> List[str]:
    """A record for each Python process in which a task waits for ever for a lock of the process's own."""
    texts: List[str] = []
    known = _Known()
    parent = looks[target]["parent"] if target in looks else None
    spent = 0.0
    # The parent has not hung by its own lock: it comes last.
    for look in sorted(looks.values(), key=lambda look: (look["pid"] == parent, look["pid"] != target)):
        if not look["python"] or syscalls.uninterruptible(look) or not tuple(_waits(look)):
            continue
        began = time.monotonic()
        effort = Effort(seconds=max(0.0, min(search.MOST_SECONDS, _ALL_SECONDS - spent)))
        hits, gave_up = _hits_of(look, looks.get(look["parent"]), known, (effort, limits, root))
        took = time.monotonic() - began
        spent += took
        texts.append(_text(look["pid"], hits, gave_up, (effort.scanned, took)))
    return texts


def _text(pid: int, hits: Sequence[Hit], gave_up: Optional[str], cost: Tuple[int, float]) -> str:
    scanned, seconds = cost
    document = {
        "forkhang": FORMAT,
        "pid": pid,
        "scanned": scanned,
        "seconds": round(seconds, 3),
        "gave_up": gave_up,
        "hits": hits,
    }
    return json.dumps(document, separators=(",", ":"))


def _waits(look: ProcRecord) -> Iterator[syscalls.Futex]:
    """Main thread first: it is the one that a forked child has."""
    waits = (wait for wait in syscalls.futexes(look) if wait.for_ever and wait.private)
    return iter(sorted(waits, key=lambda wait: wait.call.task["tid"] != look["pid"]))


def _hits_of(
    look: ProcRecord, parent: Optional[ProcRecord], known: _Known, means: Tuple[Effort, Limits, Path]
) -> Tuple[List[Hit], Optional[str]]:
    """The hits, and where the search was given up before all locks were found."""
    effort, limits, root = means
    with ExitStack() as stack:
        space = stack.enter_context(opened(root / str(look["pid"])))
        readable = parent is not None and not syscalls.uninterruptible(parent)
        original = stack.enter_context(opened(root / str(look["parent"]))) if readable else None
        pointers = tuple(call.stack_pointer for call in syscalls.calls(look))
        process = _Process(look, space, original, Objects(space, look["python"]), elf.Images(space), pointers)
        where = search.regions(space, look["executable"], pointers)
        hits = [*_in_place(process), *_pointed_to(process, known, where, (effort, limits))]
        _name(process, hits, known, (where, effort, limits))
        return hits, effort.gave_up


# --- locks that are part of what they belong to ----------------------------------------------------------------------


def _in_place(process: _Process) -> Iterator[Hit]:
    """A PyMutex, or a word among the variables of a library: no pointer leads to these."""
    for wait in _waits(process.look):
        mutex = memory.mutex_behind(process.space, wait, process.look)
        mapping = process.space.mapping(wait.word)
        if mutex is not None:
            yield _hit(process, wait.word, mutex)
        elif mapping and not mapping.shared and process.images.at(wait.word):
            yield _hit(process, wait.word, wait.word)


# --- locks that a pointer leads to -----------------------------------------------------------------------------------


def _pointed_to(
    process: _Process, known: _Known, where: Sequence[search.Region], means: Tuple[Effort, Limits]
) -> Iterator[Hit]:
    """First where another process had the pointer, then in what the waiting thread handles, then anywhere."""
    wanted = {wait.word: wait for wait in _waits(process.look) if _is_sought(process, wait)}
    for word, wait in tuple(wanted.items()):
        places = chain(known.places.get(word, ()), _handled(process, wait))
        likely = (_hit(process, word, at) for at in places if process.space.pointer(at) == word)
        hit = next((hit for hit in likely if hit["type"]), None)
        if hit:
            del wanted[word]
            known.places.setdefault(word, []).append(int(hit["at"], 16))
            yield hit
    yield from _anywhere(process, set(wanted), where, means)


def _handled(process: _Process, wait: syscalls.Futex) -> Iterator[int]:
    """Where the word stands in something that the innermost calls of the waiting thread have a pointer to."""
    stack = process.space.read(wait.call.stack_pointer, _INNERMOST_CALLS)
    words = dict.fromkeys(pointer for (pointer,) in POINTER.iter_unpack(stack[: len(stack) // 8 * 8]))
    for address in words:
        mapping = process.space.mapping(address)
        if mapping and mapping.writable and not mapping.shared and not process.is_stack(mapping):
            content = process.space.read(address, _LARGEST_HEAD)
            yield from (address + place for place in search.places(content, wait.word))


def _anywhere(
    process: _Process, wanted: Set[int], where: Sequence[search.Region], means: Tuple[Effort, Limits]
) -> Iterator[Hit]:
    counts = dict.fromkeys(wanted, 0)
    for word, at in search.find(process.space, wanted, where, *means):
        if word in wanted:
            hit = _hit(process, word, at)
            counts[word] += 1
            if _is_answer(hit) or counts[word] == _MOST_HITS:
                wanted.discard(word)
            yield hit


def _is_sought(process: _Process, wait: syscalls.Futex) -> bool:
    """Whether the word is that of a semaphore that somebody waits for, and nobody has told yet what it belongs to.

    glibc: value, number of waiters, whether it is shared; before 2.21: value, whether it is shared, number of waiters.
    """
    mapping = process.space.mapping(wait.word)
    content = process.space.read(wait.word, _SEMAPHORE.size)
    if not mapping or mapping.shared or wait.value or len(content) < _SEMAPHORE.size:
        return False
    if process.images.at(wait.word) or memory.mutex_behind(process.space, wait, process.look):
        return False
    _, second, third = _SEMAPHORE.unpack(content)
    return 0 < second < _MOST_WAITERS or (not second and 0 < third < _MOST_WAITERS)


def _is_answer(hit: Hit) -> bool:
    """Whether this is what the lock belongs to: an object, or a variable of the interpreter."""
    return hit["type"] is not None or (hit["mapping"] or "").startswith("/")


# --- one hit ---------------------------------------------------------------------------------------------------------


def _hit(process: _Process, word: int, at: int) -> Hit:
    space = process.space
    mapping = space.mapping(at)
    image = process.images.at(at)
    pointer = at // POINTER.size * POINTER.size
    enclosing = None if image or (mapping and mapping.name == "[stack]") else process.objects.enclosing(pointer)
    variable = process.images.variable(image, at) if image else None
    after = pointer + POINTER.size
    original = process.parent.read(after, _AFTER) if process.parent else b""
    return Hit(
        word=hex(word),
        at=hex(at),
        mapping=image or (mapping.name if mapping else None),
        stack=mapping is not None and enclosing is None and process.is_stack(mapping),
        before=_before(space, at).hex(),
        after=space.read(after, _AFTER).hex(),
        parent_after=original.hex() or None,
        object=hex(enclosing.address) if enclosing else None,
        type=enclosing.type if enclosing else None,
        offset=pointer - enclosing.address if enclosing else variable.offset if variable else None,
        symbol=variable.name if variable else None,
        variable=None,
        module=None,
        owner=None,
    )


def _before(space: AddressSpace, at: int) -> bytes:
    """Fewer where the mapping begins."""
    mapping = space.mapping(at)
    low = max(at - _BEFORE, mapping.low) if mapping else at
    return space.read(low, at - low)


def _name(
    process: _Process,
    hits: List[Hit],
    known: _Known,
    means: Tuple[Sequence[search.Region], Effort, Limits],
) -> None:
    """Add the names that the program has for its lock objects, and the owners that it keeps beside them."""
    where, effort, limits = means
    locks = {int(hit["object"], 16): hit for hit in hits if hit["object"] and hit["type"] in referrers.LOCKS}
    fresh = {lock for lock in locks if lock not in known.references}
    own = Effort(seconds=min(_NAME_SECONDS, effort.seconds))
    known.references.update(dict.fromkeys(fresh))
    known.references.update(referrers.find(process.objects, process.space, fresh, where, (own, limits)))
    effort.scanned += own.scanned
    for lock, hit in locks.items():
        at = known.references[lock]
        if at is not None and process.space.pointer(at) == lock:
            reference = referrers.reference(process.objects, process.space, at)
            hit["variable"], hit["module"] = reference.variable, reference.module
            hit["owner"] = hex(reference.owner) if reference.owner is not None else None

"""What several sources say of the threads of one process becomes one thread each, with both columns.

Threads join by pthread id, which fork preserves, then by TID. The pthread id of a live task lies in the mapping of its
stack.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Dict, Iterable, Iterator, List, Optional, Set, Tuple

from forkhang_ipy.model import Frame, Sample, Thread, Told, Wait

STACK = "stack"
"""Under this key stand all threads whose stack's place is known."""


def joined(parts: Iterable[Thread]) -> Tuple[Thread, ...]:
    """One thread for each number: what several sources say of it."""
    threads: List[Thread] = []
    places: Dict[object, Set[int]] = {}
    for part in parts:
        near = sorted({place for key in _sought_by(part) for place in places.get(key, ())})
        place = next((place for place in near if _same(threads[place], part)), len(threads))
        if place == len(threads):
            threads.append(part)
        else:
            threads[place] = same_thread(threads[place], part)
        for key in _known_by(threads[place]):
            places.setdefault(key, set()).add(place)
    return tuple(threads)


def _sought_by(thread: Thread) -> Iterator[object]:
    yield from _numbers(thread)
    if thread.ident is not None:
        yield STACK


def _known_by(thread: Thread) -> Iterator[object]:
    yield from _numbers(thread)
    if thread.stack is not None:
        yield STACK


def _numbers(thread: Thread) -> Iterator[object]:
    if thread.ident is not None:
        yield "ident", thread.ident
    if thread.tid is not None:
        yield "tid", thread.tid
    if thread.ident is None and thread.tid is None:
        yield thread


def _same(known: Thread, new: Thread) -> bool:
    if new.ident is not None:
        if known.ident is not None:
            return known.ident == new.ident
        if known.stack is not None and known.stack[0] <= new.ident < known.stack[1]:
            return True
    if known.tid is None and new.tid is None:
        return known == new
    return known.tid == new.tid


def same_thread(known: Thread, new: Thread) -> Thread:
    """What both say of one thread."""
    samples = _samples(known.samples + new.samples)
    last = samples[-1] if samples else Sample(index=0)
    native = next((sample.native for sample in samples[::-1] if sample.native), None)
    first = {field.name: _either(known, new, field.name) for field in fields(Thread)}
    return Thread(
        **{
            **first,
            "tid": known.tid if known.tid is not None else new.tid,
            "name": new.name if new.python and new.name else first["name"],
            "native": native or _native(known.native, new.native),
            "state": last.state or first["state"],
            "wait": last.wait or _same_wait(known.wait, new.wait),
            "samples": samples,
        }
    )


def _native(known: Tuple[Frame, ...], new: Tuple[Frame, ...]) -> Tuple[Frame, ...]:
    """The stack that names more of the program's own calls; the kernel's are in the wait already."""
    return new if _named(new) > _named(known) else known or new


def _named(frames: Tuple[Frame, ...]) -> int:
    return sum(1 for frame in frames if frame.function and not (frame.module or "").startswith("["))


def _same_wait(known: Optional[Wait], new: Optional[Wait]) -> Optional[Wait]:
    """The kernel's word first; what it does not say of the same kind of wait, the other may."""
    if known is None or new is None:
        return known or new
    first, second = (new, known) if new.told is Told.KERNEL and known.told is not Told.KERNEL else (known, new)
    if first.kind is not second.kind:
        return first
    silent = [each.name for each in fields(Wait) if getattr(first, each.name) is None]
    return replace(first, **{name: getattr(second, name) for name in silent})


def _either(known: Thread, new: Thread, name: str) -> Any:  # noqa: ANN401 any field's type
    value = getattr(known, name)
    return value if value not in (None, ()) else getattr(new, name)


def _samples(samples: Tuple[Sample, ...]) -> Tuple[Sample, ...]:
    """One sample for each look, in order."""
    merged: Dict[int, Sample] = {}
    for sample in samples:
        known = merged.get(sample.index)
        merged[sample.index] = sample if known is None else _same_sample(known, sample)
    return tuple(merged[index] for index in sorted(merged))


def _same_sample(known: Sample, new: Sample) -> Sample:
    return Sample(
        index=known.index,
        state=known.state or new.state,
        wait=known.wait or new.wait,
        cpu_ticks=known.cpu_ticks if known.cpu_ticks is not None else new.cpu_ticks,
        switches=known.switches if known.switches is not None else new.switches,
        native=known.native or new.native,
    )

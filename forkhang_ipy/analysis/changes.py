"""Two dumps of the same job in; what moved from one to the other out, thread by thread.

A thread is the same where its process is (host, rank, pid) and its pthread id, else its TID, else its name is.
"""

from __future__ import annotations

from typing import Dict, Iterator, Optional, Sequence, Tuple

from forkhang_ipy.analysis.groups import alike, stack_of
from forkhang_ipy.model import Change, Dump, Frame, Moved, Process, Thread

Key = Tuple[object, ...]


def changes(before: Dump, after: Dump) -> Tuple[Change, ...]:
    """Every live thread of either dump, in the order of the first."""
    old, new = dict(_threads(before)), dict(_threads(after))
    compared = (_compared(process, thread, new.get(key)) for key, (process, thread) in old.items())
    return (*compared, *(Change(Moved.NEW, *new[key]) for key in new if key not in old))


def _threads(dump: Dump) -> Iterator[Tuple[Key, Tuple[Process, Thread]]]:
    seen: Dict[Key, int] = {}
    for process in dump.processes:
        for thread in process.threads:
            if thread.ghost:
                continue
            key = (process.host, process.rank, process.pid, process.label, *_number(thread))
            seen[key] = seen.get(key, 0) + 1
            yield (*key, seen[key]), (process, thread)


def _number(thread: Thread) -> Tuple[str, object]:
    if thread.ident is not None:
        return "ident", thread.ident
    return ("tid", thread.tid) if thread.tid is not None else ("name", thread.name)


def _compared(process: Process, thread: Thread, found: Optional[Tuple[Process, Thread]]) -> Change:
    if found is None:
        return Change(Moved.GONE, process, thread)
    old, new = _outermost_first(stack_of(thread)), _outermost_first(stack_of(found[1]))
    if old == new:
        return Change(Moved.SAME, *found)
    common = next((at for at, (one, other) in enumerate(zip(old, new)) if one != other), min(len(old), len(new)))
    return Change(Moved.MOVED, *found, common, _at(old, common), _at(new, common))


def _outermost_first(frames: Sequence[Frame]) -> Tuple[Frame, ...]:
    return tuple(alike(frame) for frame in reversed(frames))


def _at(frames: Sequence[Frame], place: int) -> Optional[Frame]:
    return frames[place] if place < len(frames) else None

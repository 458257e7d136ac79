"""Several partial dumps of one hang become one: same process, same thread, both columns.

Threads join by pthread id, which fork preserves, then by TID. The pthread id of a live task lies in the mapping of its
stack. In a forked child a debugger may still print the parent's TIDs: they lead to the parent's task with the same
stack, and so to the child's. A Python thread that is on no live task is a ghost.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, TypeVar

from forkhang_ipy.model import Dump, Process, Sample, Thread

MAIN = "MainThread"
T = TypeVar("T")


def join(dumps: Sequence[Dump], *, unread: Optional[Tuple[str, ...]] = None) -> Dump:
    """One dump that says what all of these say; `unread` replaces the unread lines of all where it is given."""
    parts: Dict[Any, List[Process]] = {}
    for part in _with_pids([process for dump in dumps for process in dump.processes]):
        parts.setdefault(part.pid, []).append(part)
    merged = {pid: _same_process(same) for pid, same in parts.items()}
    return Dump(
        processes=tuple(_settled(process, merged.get(process.parent)) for process in merged.values()),
        target=next((dump.target for dump in dumps if dump.target is not None), None),
        samples=max([dump.samples for dump in dumps], default=1),
        sources=_once(source for dump in dumps for source in dump.sources),
        gaps=_once(gap for dump in dumps for gap in dump.gaps),
        unread=unread if unread is not None else tuple(line for dump in dumps for line in dump.unread),
        ends=_once(ends for dump in dumps for ends in dump.ends),
        sharers=_once(sharers for dump in dumps for sharers in dump.sharers),
    )


# --- processes -------------------------------------------------------------------------------------------------------


def _with_pids(parts: List[Process]) -> List[Process]:
    """A part without a pid belongs to the process that has its threads."""
    return [part if part.pid is not None else replace(part, pid=_pid_by_tid(part, parts)) for part in parts]


def _pid_by_tid(part: Process, parts: List[Process]) -> Optional[int]:
    tids = {thread.tid for thread in part.threads if thread.tid is not None}
    known = (other for other in parts if other.pid is not None)
    return next((other.pid for other in known if other.pid in tids or tids & set(other.tasks or ())), None)


def _same_process(parts: List[Process]) -> Process:
    newest = parts[::-1]
    return Process(
        pid=parts[0].pid,
        parent=_first(newest, lambda part: part.parent),
        command=_first(newest, lambda part: part.command),
        executable=_first(newest, lambda part: part.executable),
        python=_first(newest, lambda part: part.python),
        layout=_first(newest, lambda part: part.layout) or (),
        tasks=_first(newest, lambda part: part.tasks),
        threads=_threads([thread for part in parts for thread in part.threads]),
        files=_first(newest, lambda part: part.files) or (),
        memory=_once(memory for part in parts for memory in part.memory),
        state=_first(newest, lambda part: part.state),
        ended=any(part.ended for part in parts),
        objects=_once(found for part in parts for found in part.objects),
    )


def _settled(process: Process, parent: Optional[Process]) -> Process:
    """Each Python thread on its live task, or a ghost, under the name that it has or had."""
    if process.tasks is None:
        return process
    threads = list(process.threads)
    for thread in [thread for thread in threads if thread.python and not _lives(thread, process)]:
        task = _task_of(thread, process, threads, parent)
        threads.remove(thread)
        if task is None:
            threads.append(replace(thread, ghost=True))
        else:
            threads[threads.index(task)] = replace(_same_thread(task, replace(thread, tid=task.tid)), ghost=False)
    kept = (thread for thread in threads if thread.ghost or _lives(thread, process))
    return replace(process, threads=tuple(_with_name_at_fork(thread, parent) for thread in kept))


def _with_name_at_fork(thread: Thread, parent: Optional[Process]) -> Thread:
    """A source that knows no pthread id knows no Python name either: the parent's thread that it was has one."""
    if parent is None or thread.ident is not None or not thread.python:
        return thread
    originals = (other for other in parent.threads if other.python)
    original = next((other for other in originals if _same_stack(other, thread) or other.tid == thread.tid), None)
    return replace(thread, name=original.name) if original and original.name else thread


def _same_stack(one: Thread, other: Thread) -> bool:
    """A stack grows downwards: the high ends tell whether it is the same."""
    return one.stack is not None and other.stack is not None and one.stack[1] == other.stack[1]


def _lives(thread: Thread, process: Process) -> bool:
    return thread.tid in (process.tasks or ())


def _task_of(thread: Thread, process: Process, threads: List[Thread], parent: Optional[Process]) -> Optional[Thread]:
    """The live task, still without a Python stack, that this Python thread runs on."""
    free = [task for task in threads if _lives(task, process) and not task.python]
    original = next((task for task in parent.threads if task.tid == thread.tid), None) if parent else None
    if original is not None and original.stack is not None:
        return next((task for task in free if _same_stack(task, original)), None)
    if thread.name == MAIN or thread.tid == process.parent:
        return next((task for task in free if task.tid == process.pid), None)
    return None


# --- threads ---------------------------------------------------------------------------------------------------------


def _threads(parts: Iterable[Thread]) -> Tuple[Thread, ...]:
    threads: List[Thread] = []
    for part in parts:
        place = next((index for index, thread in enumerate(threads) if _same(thread, part)), None)
        if place is None:
            threads.append(part)
        else:
            threads[place] = _same_thread(threads[place], part)
    return tuple(threads)


def _same(known: Thread, new: Thread) -> bool:
    if new.ident is not None:
        if known.ident is not None:
            return known.ident == new.ident
        if known.stack is not None and known.stack[0] <= new.ident < known.stack[1]:
            return True
    return known.tid is not None and known.tid == new.tid


def _same_thread(known: Thread, new: Thread) -> Thread:
    samples = _samples(known.samples + new.samples)
    last = samples[-1] if samples else Sample(index=0)
    native = next((sample.native for sample in samples[::-1] if sample.native), None)
    first = {field.name: _either(known, new, field.name) for field in fields(Thread)}
    return Thread(
        **{
            **first,
            "tid": known.tid if known.tid is not None else new.tid,
            "name": new.name if new.python and new.name else first["name"],
            "native": native or first["native"],
            "state": last.state or first["state"],
            "wait": last.wait or first["wait"],
            "samples": samples,
        }
    )


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


# --- any -------------------------------------------------------------------------------------------------------------


def _first(parts: Sequence[Process], read: Callable[[Process], Optional[T]]) -> Optional[T]:
    return next((value for value in map(read, parts) if value not in (None, ())), None)


def _once(values: Iterable[T]) -> Tuple[T, ...]:
    return tuple(dict.fromkeys(values))

"""Several partial dumps of one hang become one: same process, same thread, both columns.

In a forked child a debugger may still print the parent's TIDs: they lead to the parent's task with the same
stack, and so to the child's. A Python thread that is on no live task is a ghost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Dict, Iterable, List, Optional, Sequence, Tuple, TypeVar

from forkhang_ipy.formats.threads import joined, same_thread
from forkhang_ipy.formats.whole import Book, fits, place
from forkhang_ipy.model import Dump, Process, Thread

MAIN = "MainThread"
NOTHING = Process(pid=None)
T = TypeVar("T")


def join(dumps: Sequence[Dump]) -> Dump:
    """One dump that says what all of these say."""
    groups = _groups([process for dump in dumps for process in dump.processes])
    merged = [_same_process(group) for group in groups]
    known: Dict[Optional[int], List[Process]] = {}
    for process in merged:
        known.setdefault(process.pid, []).append(process)
    settled = (_settled(process, _parent(process, known)) for process in _without_task_rows(merged))
    return Dump(
        processes=tuple(process for process in settled if replace(process, rank=None, host=None) != NOTHING),
        target=next((dump.target for dump in dumps if dump.target is not None), None),
        samples=max([dump.samples for dump in dumps], default=1),
        sources=_once(source for dump in dumps for source in dump.sources),
        gaps=_once(gap for dump in dumps for gap in dump.gaps),
        unread=tuple(line for dump in dumps for line in dump.unread),
        ends=_once(ends for dump in dumps for ends in dump.ends),
        sharers=_once(sharers for dump in dumps for sharers in dump.sharers),
    )


# --- processes -------------------------------------------------------------------------------------------------------


def _groups(parts: List[Process]) -> List[List[Process]]:
    """The parts of each process: by pid; a part without one goes where its threads are, or stays alone."""
    book = Book()
    without = [part for part in parts if part.pid is None]
    for part in parts:
        if part.pid is not None:
            book.add(part)
    if without:
        book.note_threads()
    for part in without:
        book.add(part)
    return book.groups


def _parent(process: Process, known: Dict[Optional[int], List[Process]]) -> Optional[Process]:
    """Its parent, on the same machine."""
    parents = known.get(process.parent, []) if process.parent is not None else []
    return next((parent for parent in parents if fits(place(process), place(parent))), None)


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
        threads=joined([thread for part in parts for thread in part.threads]),
        files=_first(newest, lambda part: part.files) or (),
        memory=_once(memory for part in parts for memory in part.memory),
        state=_first(newest, lambda part: part.state),
        ended=any(part.ended for part in parts),
        objects=_once(found for part in parts for found in part.objects),
        live_tasks=_first(newest, lambda part: part.live_tasks),
        marked_forked=_first(newest, lambda part: part.marked_forked),
        label=_first(parts, lambda part: part.label),
        rank=_first(parts, lambda part: part.rank),
        host=_first(parts, lambda part: part.host),
    )


def _without_task_rows(processes: List[Process]) -> List[Process]:
    """A tracer counts threads like processes: one that is a thread of another process is that thread."""
    homes: Dict[object, Optional[int]] = {
        (place(process), tid): process.pid
        for process in processes
        if process.pid is not None
        for tid in (*(process.tasks or ()), *(thread.tid for thread in process.threads if thread.ghost is False))
        if tid is not None and tid != process.pid
    }
    rows = {_number(process): process for process in processes if _number(process) in homes and _is_row(process)}
    if not rows:
        return processes
    moved: Dict[object, List[Process]] = {}
    for number, row in rows.items():
        home = (number[0], homes[number])
        if home not in rows:
            moved.setdefault(home, []).append(replace(row, pid=home[1]))
    kept = [process for process in processes if process.pid is None or _number(process) not in rows]
    return [
        _same_process([process, *moved[_number(process)]]) if _number(process) in moved else process for process in kept
    ]


def _number(process: Process) -> Tuple[Tuple[Optional[int], Optional[str]], Optional[int]]:
    """The pid, on its machine."""
    return place(process), process.pid


def _is_row(process: Process) -> bool:
    """Nothing is known of it but what one task with its number waits for."""
    threads = process.threads
    return (
        process == Process(process.pid, threads=threads, rank=process.rank, host=process.host)
        and [thread.tid for thread in threads] == [process.pid]
        and (not (threads[0].python or threads[0].native))
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
            threads[threads.index(task)] = replace(same_thread(task, replace(thread, tid=task.tid)), ghost=False)
    kept = (thread for thread in _with_numbers(threads) if thread.ghost or _lives(thread, process) or _is_loose(thread))
    return replace(process, threads=tuple(_with_name_at_fork(thread, parent) for thread in kept))


def _is_loose(thread: Thread) -> bool:
    """A stack that nobody gave a number: it may be that of any task."""
    return thread.tid is None and bool(thread.python or thread.native)


def _with_numbers(threads: List[Thread]) -> List[Thread]:
    """A native stack without a number is of the only live task, where that has none."""
    tasks = [thread for thread in threads if not thread.ghost and thread.tid is not None]
    loose = [thread for thread in threads if thread.tid is None and thread.ident is None and not thread.ghost]
    if len(tasks) != 1 or len(loose) != 1 or tasks[0].native or loose[0].python:
        return threads
    joined = same_thread(tasks[0], loose[0])
    return [joined if thread is tasks[0] else thread for thread in threads if thread is not loose[0]]


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


# --- any -------------------------------------------------------------------------------------------------------------


def _first(parts: Sequence[Process], read: Callable[[Process], Optional[T]]) -> Optional[T]:
    return next((value for value in map(read, parts) if value not in (None, ())), None)


def _once(values: Iterable[T]) -> Tuple[T, ...]:
    return tuple(dict.fromkeys(values))

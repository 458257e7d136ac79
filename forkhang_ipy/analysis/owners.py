"""From an owner that a lock records (a TID, a pthread id) to the thread, and to its line in the user's program."""

from __future__ import annotations

from typing import Iterator, Optional

from forkhang_ipy.analysis.frames import first_of_users, is_standard, matches
from forkhang_ipy.knowledge.calls import Call
from forkhang_ipy.model import Owner, Process, Thread

ENTERING_PYTHON = Call(r"PyGILState_Ensure|PyThreadState_New|new_threadstate|_PyThreadState_Attach|PyMem_RawMalloc")
"""Native threads take the interpreter's thread-list lock here, without the GIL."""


def live_by_tid(tid: int, process: Optional[Process]) -> Optional[Thread]:
    """The live thread that records this TID in its locks: the TID in its own pid namespace."""
    threads = process.threads if process else ()
    return next((thread for thread in threads if not thread.ghost and tid == _inner(thread)), None)


def live_by_ident(ident: Optional[int], process: Process, parent: Optional[Process]) -> Optional[Thread]:
    """The live thread with this pthread id: by itself, by the stack that it lies in, or as the parent's main thread."""
    if ident is None:
        return None
    live = [thread for thread in process.threads if not thread.ghost]
    original = next((thread for thread in parent.threads if thread.ident == ident), None) if parent else None
    forker = original.stack[1] if original is not None and original.stack is not None else None
    return next((thread for thread in live if _has(thread, ident, forker)), None)


def is_gone(ident: Optional[int], waiter: Thread, process: Process, parent: Optional[Process]) -> Optional[bool]:
    """Whether no live thread of the process has this pthread id; None where not every thread's is known.

    The waiter itself does not count: these locks let their owner in again.
    """
    if ident is None:
        return None
    live = live_by_ident(ident, process, parent)
    if live is not None:
        return None if _may_be_second_hand(live, ident, process, parent) else False
    others = [thread for thread in process.threads if not thread.ghost and thread != waiter]
    return True if all(_is_known(thread, process, parent) for thread in others) else None


def _may_be_second_hand(live: Thread, ident: int, process: Process, parent: Optional[Process]) -> bool:
    """A thread that a forked child started may have the pthread id of a thread that was not copied."""
    of_parent = any(thread.ident == ident for thread in (parent.threads if parent else ()))
    return bool(process.forked) and live.tid != process.pid and of_parent


def left_behind(ident: Optional[int], tid: Optional[int], process: Process, parent: Optional[Process]) -> bool:
    """Whether the owner is shown to be a thread that only the parent has, or had at the fork."""
    ghosts = [thread for thread in process.threads if thread.ghost]
    by_ident = ident is not None and any(
        thread.ident == ident for thread in (*ghosts, *(parent.threads if parent else ()))
    )
    by_tid = tid is not None and (live_by_tid(tid, parent) is not None or any(thread.tid == tid for thread in ghosts))
    return by_ident or by_tid


def _is_known(thread: Thread, process: Process, parent: Optional[Process]) -> bool:
    """By a source that prints pthread ids, by its stack, or as the thread that forked, with the parent's id."""
    if thread.ident is not None:
        return True
    if thread.stack is None:
        return False
    same = (other for other in (parent.threads if parent else ()) if other.stack and other.stack[1] == thread.stack[1])
    return thread.tid != process.pid or any(other.ident is not None for other in same)


def named(thread: Optional[Thread], process: Optional[Process], *, moved_on: bool = False) -> Optional[Owner]:
    """The thread with its line in the user's program; without the line if it has moved on since it took the lock."""
    if thread is None or process is None:
        return None
    frame = first_of_users(thread.python) or next(iter(thread.python), None)
    if frame is None:
        frame = next((native for native in thread.native if native.function), None)
    if frame is None or moved_on:
        return Owner(process=process.pid, thread=thread.name)
    return Owner(process=process.pid, thread=thread.name, function=frame.function, file=frame.file, line=frame.line)


def candidates(thread: Thread, waits_in: Process, process: Optional[Process]) -> Iterator[Owner]:
    """Live threads of a process that are in a function of the same file as the waiter: they may hold its lock."""
    files = {frame.file for frame in thread.python[:2] if frame.file and not is_standard(frame)}
    for other in process.threads if process else ():
        frame = next((frame for frame in other.python if frame.file in files), None)
        waits_for_child = other.wait is not None and other.wait.target is not None
        same = other.tid == thread.tid or _forked_into(other, thread, waits_in)
        if process is not None and frame is not None and not (waits_for_child or same or other.ghost):
            yield Owner(process.pid, other.name, frame.function, frame.file, frame.line)


def _forked_into(parents: Thread, thread: Thread, process: Process) -> bool:
    """Whether the parent's thread became this one at the fork: a process begins with the thread that forked it.

    Threads that the child started since may have got the stack and pthread id of one that was not copied.
    """
    if thread.tid != process.pid:
        return False
    if parents.ident is not None and thread.ident is not None:
        return parents.ident == thread.ident
    return parents.stack is not None and thread.stack is not None and parents.stack[1] == thread.stack[1]


def entering(parent: Optional[Process]) -> Iterator[Owner]:
    """Threads of the parent that are entering the interpreter now."""
    for other in parent.threads if parent else ():
        frame = next((frame for frame in other.native if matches(ENTERING_PYTHON, frame)), None)
        if parent is not None and frame is not None:
            yield Owner(parent.pid, other.name, frame.function)


def _has(thread: Thread, ident: int, forker_stack_end: Optional[int]) -> bool:
    if thread.ident is not None:
        return thread.ident == ident
    if thread.stack is None:
        return False
    return thread.stack[0] <= ident < thread.stack[1] or thread.stack[1] == forker_stack_end


def _inner(thread: Thread) -> Optional[int]:
    return thread.inner_tid if thread.inner_tid is not None else thread.tid

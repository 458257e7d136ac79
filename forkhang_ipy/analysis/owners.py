"""From an owner that a lock records (a TID, a pthread id) to the thread, and to its line in the user's program."""

from __future__ import annotations

from typing import Iterator, Optional

from forkhang_ipy.analysis.frames import first_of_users, is_users_own, matches
from forkhang_ipy.knowledge.signatures import Call
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


def candidates(thread: Thread, process: Optional[Process]) -> Iterator[Owner]:
    """Live threads of a process that are in a function of the same file as the waiter: they may hold its lock."""
    files = {frame.file for frame in thread.python[:2] if is_users_own(frame)}
    for other in process.threads if process else ():
        frame = next((frame for frame in other.python if frame.file in files), None)
        waits_for_child = other.wait is not None and other.wait.target is not None
        same = other.ident == thread.ident and other.name == thread.name
        if process is not None and frame is not None and not (waits_for_child or same or other.ghost):
            yield Owner(process.pid, other.name, frame.function, frame.file, frame.line)


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

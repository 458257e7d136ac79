"""Who holds the lock that a thread waits for, from the bytes at its futex word: no debugger needed.

A pthread mutex records its owner (glibc's `struct __pthread_mutex_s`, the same on x86_64 and aarch64):

    int lock;  unsigned count;  int owner (a TID);  unsigned nusers;  int kind;  ...

A semaphore, which is what a lock of the threading module waits on, records none: `unsigned value; unsigned waiters`.
"""

from __future__ import annotations

import struct
from typing import Optional, Tuple

from forkhang_ipy.analysis.frames import first_of_users
from forkhang_ipy.model import InParent, Lock, Memory, Owner, Process, Thread, Wait, WaitKind

MUTEX = struct.Struct("<iIiIi")
SEMAPHORE = struct.Struct("<II")
MUTEX_KINDS = 0x200
"""All kinds, with robust, inheriting and elision bits, are below this."""
MOST_USERS = 100_000
CONTENDED = 2
LARGEST_TID = 1 << 22
TID_BITS = 0x3FFFFFFF


def lock_of(thread: Thread, process: Process, parent: Optional[Process]) -> Optional[Lock]:
    """The lock that this thread waits for, with its owner as far as memory tells; None if it waits for no lock."""
    wait = thread.wait
    if wait is None or wait.kind is not WaitKind.LOCK:
        return None
    own = _word(process, wait.address)
    original = _word(parent, wait.address) if parent and process.forked else None
    owner = _mutex_owner(wait, own, process, parent)
    if owner is None:
        held = _semaphore(original) if wait.value == 0 else None
        return Lock(kind="lock", address=wait.address, in_parent=held)
    return Lock(
        kind="pthread-mutex",
        address=wait.address,
        owner_tid=owner,
        owner=_named(owner, parent) or _named(owner, process),
        owner_gone=_live(owner, process) is None,
        in_parent=_mutex_in_parent(original),
    )


def _word(process: Optional[Process], address: Optional[int]) -> Optional[Memory]:
    words = process.memory if process else ()
    return next((word for word in words if word.address == address), None)


# --- pthread mutex ---------------------------------------------------------------------------------------------------


def _mutex_owner(wait: Wait, word: Optional[Memory], process: Process, parent: Optional[Process]) -> Optional[int]:
    """The TID that a contended mutex records; None where the bytes are no mutex that somebody holds."""
    fields = _mutex(word)
    if fields is None or wait.value == 0:
        return None
    lock, _, owner, users, kind = fields
    known = _live(owner, process) is not None or (parent is not None and _live(owner, parent) is not None)
    plausible = 0 < owner < LARGEST_TID and 0 <= kind < MUTEX_KINDS and users <= MOST_USERS
    contended = lock == CONTENDED or (lock & TID_BITS) == owner
    return owner if contended and plausible and (known or users == 1) else None


def _mutex(word: Optional[Memory]) -> Optional[Tuple[int, int, int, int, int]]:
    if word is None or len(word.content) < MUTEX.size:
        return None
    lock, count, owner, users, kind = MUTEX.unpack_from(word.content)
    return lock, count, owner, users, kind


def _mutex_in_parent(word: Optional[Memory]) -> Optional[InParent]:
    fields = _mutex(word)
    if fields is None:
        return None
    return InParent.HELD if fields[0] else InParent.RELEASED


# --- semaphore -------------------------------------------------------------------------------------------------------


def _semaphore(word: Optional[Memory]) -> Optional[InParent]:
    if word is None or len(word.content) < SEMAPHORE.size:
        return None
    value, _ = SEMAPHORE.unpack_from(word.content)
    return {0: InParent.HELD, 1: InParent.RELEASED}.get(value)


# --- owners ----------------------------------------------------------------------------------------------------------


def _live(tid: int, process: Process) -> Optional[Thread]:
    """The live thread that records this TID in its locks: the TID in its own pid namespace."""
    return next((thread for thread in process.threads if not thread.ghost and tid == _inner(thread)), None)


def _inner(thread: Thread) -> Optional[int]:
    return thread.inner_tid if thread.inner_tid is not None else thread.tid


def _named(tid: int, process: Optional[Process]) -> Optional[Owner]:
    """The thread with this TID, and the line of the user's program where it is now."""
    thread = _live(tid, process) if process else None
    if process is None or thread is None:
        return None
    frame = first_of_users(thread.python) or next(iter(thread.python), None)
    if frame is None:
        frame = next((native for native in thread.native if native.function), None)
    return Owner(
        process=process.pid,
        thread=thread.name,
        function=frame.function if frame else None,
        file=frame.file if frame else None,
        line=frame.line if frame else None,
    )

"""Who holds the lock that a thread waits for, from the bytes at its futex word and the object that it belongs to.

A pthread mutex records its owner (glibc's `struct __pthread_mutex_s`, the same on x86_64 and aarch64):

    int lock;  unsigned count;  int owner (a TID);  unsigned nusers;  int kind;  ...

A semaphore, which is what Python's locks wait on, records none: `unsigned value; unsigned waiters`. But an RLock and a
buffered stream keep their owner's pthread id right behind their pointer to it, and an import knows who imports.
"""

from __future__ import annotations

import struct
from typing import Optional, Tuple

from forkhang_ipy.analysis.owners import is_gone, live_by_ident, live_by_tid, named
from forkhang_ipy.model import InParent, Lock, LockObject, Memory, Owner, Process, Thread, Wait, WaitKind

MUTEX = struct.Struct("<iIiIi")
SEMAPHORE = struct.Struct("<II")
POINTER = struct.Struct("<Q")
MUTEX_KINDS = 0x400
"""All kinds, with robust, inheriting and elision bits, are below this."""
MOST_USERS = 100_000
CONTENDED = 2
LARGEST_TID = 1 << 22
PYMUTEX = "PyMutex"
LOCKED = 1
"""The lowest bit of a PyMutex."""
TID_BITS = 0x3FFFFFFF
KINDS = {
    "_thread.RLock": "threading.RLock",
    "_thread.lock": "threading.Lock",
    "_io.BufferedWriter": "io.BufferedWriter",
    "_io.BufferedReader": "io.BufferedReader",
    "_io.BufferedRandom": "io.BufferedRandom",
}
"""What the field calls an object that is a lock, or has one, by its type's name in CPython."""
UNNAMED = "lock"
"""The kind of a lock of which only the futex word is known."""
OWNED = ("_thread.RLock", "_io.BufferedWriter", "_io.BufferedReader", "_io.BufferedRandom")
"""Types that keep their owner's pthread id right behind the pointer to the lock (CPython 3.8 to 3.13)."""


def lock_of(thread: Thread, process: Process, parent: Optional[Process]) -> Optional[Lock]:
    """The lock that this thread waits for, with its owner as far as memory tells; None if it waits for no lock."""
    wait = thread.wait
    if wait is None or wait.kind is not WaitKind.LOCK:
        return None
    origin = parent if process.forked else None
    return (
        _mutex_lock(thread, wait, process, origin)
        or _object_lock(thread, wait, process, origin)
        or Lock(kind=_bare_kind(thread, wait), address=wait.address, in_parent=_copy_in(origin, thread, process))
    )


def object_of(wait: Wait, process: Process) -> Optional[LockObject]:
    """What the futex word belongs to: a Python object before a C variable; copies on stacks tell nothing."""
    found = [one for one in process.objects if one.word == wait.address and not one.on_stack]
    return min(found, key=lambda one: (one.type is None, one.symbol is None, one.variable is None), default=None)


# --- pthread mutex ---------------------------------------------------------------------------------------------------


def _mutex_lock(thread: Thread, wait: Wait, process: Process, parent: Optional[Process]) -> Optional[Lock]:
    owner = thread.mutex_owner or _recorded_owner(wait, process, parent)
    if owner is None:
        return None
    held_by = live_by_tid(owner, process)
    in_parent = _mutex_in_parent(_word(process, wait.address), _word(parent, wait.address), parent)
    moved_on = in_parent is InParent.RELEASED
    return Lock(
        kind="pthread-mutex",
        address=wait.address,
        owner_tid=owner,
        owner=named(held_by, process) or named(live_by_tid(owner, parent), parent, moved_on=moved_on),
        owner_gone=held_by is None if process.tasks is not None else None,
        in_parent=in_parent,
    )


def _recorded_owner(wait: Wait, process: Process, parent: Optional[Process]) -> Optional[int]:
    """The TID that a contended mutex records; None where the bytes are no mutex that somebody holds."""
    fields = _mutex(_word(process, wait.address))
    if fields is None or wait.value == 0:
        return None
    lock, _, owner, users, kind = fields
    known = live_by_tid(owner, process) is not None or live_by_tid(owner, parent) is not None
    plausible = 0 < owner < LARGEST_TID and 0 <= kind < MUTEX_KINDS and users <= MOST_USERS
    contended = lock == CONTENDED or (lock & TID_BITS) == owner
    return owner if contended and plausible and (known or users == 1) else None


def _mutex(word: Optional[Memory]) -> Optional[Tuple[int, int, int, int, int]]:
    if word is None or len(word.content) < MUTEX.size:
        return None
    lock, count, owner, users, kind = MUTEX.unpack_from(word.content)
    return lock, count, owner, users, kind


def _mutex_in_parent(
    own: Optional[Memory], original: Optional[Memory], parent: Optional[Process]
) -> Optional[InParent]:
    """Held by a live thread of the parent, or free; other bytes are no mutex: the child's is newer than the fork."""
    if own is None or original is None:
        return None
    fields = _mutex(original)
    if fields is None or not _same_allocation(own, original):
        return InParent.ABSENT
    lock, _, owner, users, _ = fields
    if lock and live_by_tid(owner, parent) is not None:
        return InParent.HELD
    return InParent.RELEASED if not (lock or owner or users) else InParent.ABSENT


# --- Python's objects ------------------------------------------------------------------------------------------------


def _object_lock(thread: Thread, wait: Wait, process: Process, parent: Optional[Process]) -> Optional[Lock]:
    found = object_of(wait, process)
    if found is None or found.type is None:
        return None
    ident = found.owner or _owner_behind(found, found.after)
    # The word of an import belongs to the waiters' own lock, not to the one that the importer holds.
    by_word = None if found.module else _copy_in(parent, thread, process)
    in_parent = InParent.ABSENT if by_word is InParent.ABSENT else _object_in_parent(found, ident) or by_word
    return Lock(
        kind=KINDS.get(found.type, found.type),
        address=wait.address,
        owner_ident=ident,
        owner=_owner_named(ident, process, parent, in_parent),
        owner_gone=is_gone(ident, thread, process, parent),
        in_parent=in_parent,
        variable=found.module or found.variable,
    )


def _owner_behind(found: LockObject, after: Optional[bytes]) -> Optional[int]:
    if found.type not in OWNED or after is None or len(after) < POINTER.size:
        return None
    (ident,) = POINTER.unpack_from(after)
    return int(ident) or None


def _object_in_parent(found: LockObject, ident: Optional[int]) -> Optional[InParent]:
    if ident is None or found.type not in OWNED or found.parent_after is None:
        return None
    (owner,) = POINTER.unpack_from(found.parent_after) if len(found.parent_after) >= POINTER.size else (0,)
    return {ident: InParent.HELD, 0: InParent.RELEASED}.get(owner, InParent.ABSENT)


def _owner_named(
    ident: Optional[int], process: Process, parent: Optional[Process], in_parent: Optional[InParent]
) -> Optional[Owner]:
    """The live thread; else the parent's, at its line while it still holds the lock; else the ghost, as it was."""
    if ident is None:
        return None
    ghost = next((thread for thread in process.threads if thread.ghost and thread.ident == ident), None)
    original = next((thread for thread in parent.threads if thread.ident == ident), None) if parent else None
    held_by = live_by_ident(ident, process, parent)
    if held_by is not None:
        return named(held_by, process)
    if original is not None and (in_parent is not InParent.RELEASED or ghost is None):
        return named(original, parent, moved_on=in_parent is InParent.RELEASED)
    return named(ghost, process)


# --- semaphore, PyMutex ----------------------------------------------------------------------------------------------


def _copy_in(parent: Optional[Process], thread: Thread, process: Process) -> Optional[InParent]:
    """What the parent's copy of an ownerless lock says; None where it cannot be read."""
    wait = thread.wait
    own = _word(process, wait.address) if wait else None
    if parent is None or wait is None or own is None or wait.value != 0:
        return None
    if _is_parked(thread, own.address):
        return _mutex_byte_in(parent, own)
    original = _word(parent, wait.address)
    return _semaphore_in(own, original) if original is not None else None


def _bare_kind(thread: Thread, wait: Wait) -> str:
    return PYMUTEX if wait.address is not None and _is_parked(thread, wait.address) else UNNAMED


def _is_parked(thread: Thread, address: int) -> bool:
    """Whether the word lies on the thread's own stack, as that of CPython's parking lot does."""
    return thread.stack is not None and thread.stack[0] <= address < thread.stack[1]


def _mutex_byte_in(parent: Process, own: Memory) -> Optional[InParent]:
    """A PyMutex (CPython 3.13 and later): a semaphore on the waiter's own stack, with the mutex's address before it."""
    if len(own.before) < POINTER.size:
        return None
    (address,) = POINTER.unpack(own.before[-POINTER.size :])
    mutex = _word(parent, address)
    if mutex is None or not mutex.content:
        return None
    return InParent.HELD if mutex.content[0] & LOCKED else InParent.RELEASED


def _semaphore_in(own: Memory, original: Memory) -> InParent:
    """What the semaphore at this address says in the parent, where it is the same one."""
    if not _same_allocation(own, original):
        return InParent.ABSENT
    value, _ = SEMAPHORE.unpack_from(original.content)
    # A lock's semaphore counts to one; anything else is other use of the same memory.
    return {0: InParent.HELD, 1: InParent.RELEASED}.get(value, InParent.ABSENT)


def _same_allocation(own: Memory, original: Memory) -> bool:
    """Glibc keeps a block's size in the eight bytes before it; after a fork both blocks have it."""
    own_size, its_size = own.before[-POINTER.size :], original.before[-POINTER.size :]
    return len(original.content) >= SEMAPHORE.size and (not own_size or own_size == its_size)


def _word(process: Optional[Process], address: Optional[int]) -> Optional[Memory]:
    words = process.memory if process else ()
    return next((word for word in words if word.address == address), None)

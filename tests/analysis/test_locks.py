"""The owner of a lock is read from the bytes at its futex word, and only where they are a lock's."""

from __future__ import annotations

import struct
from typing import Optional

from hypothesis import given
from hypothesis import strategies as st

from forkhang_ipy.analysis.locks import lock_of
from forkhang_ipy.model import Frame, InParent, Lock, Memory, Owner, Process, Thread, Told, Wait, WaitKind

WORD = 0x7F36161CFC30
CHILD, PARENT, HOLDER = 1718, 1680, 2288
HOLDS = Thread(
    tid=HOLDER, name="holder", python=(Frame("sleep", "/usr/lib/python3.8/x.py", 9), Frame("hold", "x.py", 5))
)


def mutex(lock: int, owner: int, kind: int = 0) -> bytes:
    return struct.pack("<iIiIi", lock, 0, owner, 1, kind) + bytes(28)


def waiter(value: int) -> Thread:
    wait = Wait(WaitKind.LOCK, Told.KERNEL, call="futex", address=WORD, value=value, private=True, timeout=False)
    return Thread(tid=CHILD, wait=wait)


def lock(own: bytes, original: Optional[bytes], *, value: int = 2, forked: bool = True) -> Optional[Lock]:
    thread = waiter(value)
    child = Process(CHILD, parent=PARENT, forked=forked, tasks=(CHILD,), threads=(thread,), memory=(Memory(WORD, own),))
    memory = () if original is None else (Memory(WORD, original),)
    parent = Process(PARENT, tasks=(PARENT, HOLDER), threads=(Thread(tid=PARENT), HOLDS), memory=memory)
    return lock_of(thread, child, parent)


def test_a_mutex_whose_owner_is_the_parents_thread_names_it_and_its_line() -> None:
    assert lock(mutex(2, HOLDER), mutex(1, HOLDER)) == Lock(
        "pthread-mutex",
        WORD,
        owner_tid=HOLDER,
        owner=Owner(PARENT, "holder", "hold", "x.py", 5),
        owner_gone=True,
        in_parent=InParent.HELD,
    )


def test_the_parent_may_have_released_it_since() -> None:
    found = lock(mutex(2, HOLDER), bytes(40))
    assert found is not None
    assert found.in_parent is InParent.RELEASED


def test_a_mutex_that_the_thread_itself_holds_is_not_gone() -> None:
    found = lock(mutex(2, CHILD), None)
    assert found is not None
    assert (found.owner_tid, found.owner_gone) == (CHILD, False)


def test_a_semaphore_records_no_owner_but_the_parents_copy_tells_whether_it_is_held() -> None:
    held, released = bytes(48), struct.pack("<II", 1, 0) + bytes(40)
    assert lock(held, held, value=0) == Lock("lock", WORD, in_parent=InParent.HELD)
    assert lock(held, released, value=0) == Lock("lock", WORD, in_parent=InParent.RELEASED)


def test_the_memory_of_a_parent_that_was_not_forked_from_says_nothing() -> None:
    assert lock(bytes(48), bytes(48), value=0, forked=False) == Lock("lock", WORD)


def test_a_thread_that_waits_for_no_lock_has_none() -> None:
    asleep = Thread(tid=1, wait=Wait(WaitKind.SLEEP, Told.KERNEL))
    assert lock_of(asleep, Process(1), None) is None


@given(st.binary(max_size=48), st.sampled_from([0, 1, 2, 7, 8]))
def test_no_bytes_make_an_owner_of_a_tid_that_nobody_has_unless_they_are_a_held_mutex(own: bytes, value: int) -> None:
    found = lock(own, None, value=value)
    assert found is not None
    if found.owner_tid is not None:
        assert len(own) >= 20
        assert value != 0
        assert found.owner_tid == struct.unpack_from("<i", own, 8)[0] > 0

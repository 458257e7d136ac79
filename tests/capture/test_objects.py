"""What a lock belongs to is found in memory, with its owner, on every CPython of this machine."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkhang_ipy.capture import memory, objects, procfs, python_version, search
from forkhang_ipy.capture.address_space import POINTER, AddressSpace, opened
from forkhang_ipy.capture.procfs import ProcRecord
from forkhang_ipy.capture.python_objects import Enclosing, Objects
from forkhang_ipy.capture.search import Effort, Region
from forkhang_ipy.capture.sources import Limits
from tests.live import Hang, hanging

Start = Callable[..., Tuple[int, ...]]

LIMITS = Limits(10.0)
HANGS = 4
OURSELVES = Path("/proc/self")
VERSION = "{}.{}.{}".format(*sys.version_info)
FIRST_WITH_MUTEXES = (3, 13)


def looks(*pids: int) -> Dict[int, ProcRecord]:
    found = (procfs.read(pid, 0, 0.0) for pid in pids)
    return {look["pid"]: look for look in found if look}


def hits(child: int, *others: int) -> List[Dict[str, Any]]:
    """The hits of the child."""
    texts = objects.records(looks(*others, child), child, LIMITS)
    (record,) = [record for record in map(json.loads, texts) if record["pid"] == child]
    assert record["gave_up"] is None
    return list(record["hits"])


def hit_of(hang: Hang) -> Dict[str, Any]:
    assert hang.child
    (hit,) = hits(hang.child, hang.parent)
    return hit


def first(content: str) -> int:
    return int(POINTER.unpack_from(bytes.fromhex(content))[0])


def holder(hang: Hang) -> int:
    return int(str(hang.facts["holder_ident"]))


def test_behind_the_pointer_an_rlock_keeps_its_owner_who_is_in_the_parent_still(python: str) -> None:
    with hanging("threading_rlock.py", python) as hang:
        hit = hit_of(hang)
        assert (hit["type"], hit["offset"], hit["variable"]) == ("_thread.RLock", 16, "lock")
        assert first(hit["after"]) == first(hit["parent_after"]) == holder(hang)


def test_behind_the_pointer_a_buffered_stream_keeps_its_owner(python: str) -> None:
    with hanging("stdio_lock.py", python) as hang:
        hit = hit_of(hang)
        assert (hit["type"], hit["offset"], hit["stack"]) == ("_io.BufferedWriter", 104, False)
        assert first(hit["after"]) == first(hit["parent_after"]) == holder(hang)


def test_a_plain_lock_has_no_owner_but_a_name(python: str) -> None:
    with hanging("threading_lock.py", python) as hang:
        hit = hit_of(hang)
        assert (hit["type"], hit["offset"], hit["variable"], hit["owner"]) == ("_thread.lock", 16, "lock", None)


def test_an_import_lock_tells_the_module_and_the_thread_that_imports_it(python: str) -> None:
    for _ in range(HANGS):
        with hanging("import_lock.py", python) as hang:
            hit, importer = hit_of(hang), hex(holder(hang))
        # Now and then the instance that has the lock is not found; then nothing is said of it.
        if hit["module"]:
            break
    assert (hit["type"], hit["module"], hit["owner"]) == ("_thread.lock", "slow_module", importer)


def test_a_hash_object_holds_its_lock_as_a_pointer_or_as_a_mutex(python: str) -> None:
    with hanging("hashlib_object.py", python) as hang:
        assert hang.child
        seen = looks(hang.parent, hang.child)
        hit = hit_of(hang)
        words = {record["pid"]: record["words"] for record in map(json.loads, memory.records(seen))}
        assert hit["type"] == "_hashlib.HASH"
        has_mutex = python_version.minor(seen[hang.child]["python"]) >= FIRST_WITH_MUTEXES
        for pid in (hang.parent, hang.child):
            assert (hit["at"] in {word["address"] for word in words[pid]}) == has_mutex


def test_a_lock_that_a_c_variable_points_to_is_known_by_the_library(python: str) -> None:
    with hanging("faulthandler_armed.py", python) as hang:
        hit = hit_of(hang)
        assert Path(hit["mapping"]).name.startswith(("libpython3", "python3"))
        # A stripped program has no name for its own static variables.
        assert hit["symbol"] in ("thread", "_PyRuntime", None)
        assert (hit["type"], hit["stack"]) == (None, False)


def test_the_waiting_threads_stack_leads_to_the_object_without_a_search() -> None:
    with hanging("stdio_lock.py") as hang:
        assert hang.child
        (text,) = objects.records(looks(hang.child), hang.child, LIMITS)
    record = json.loads(text)
    assert ([hit["type"] for hit in record["hits"]], record["scanned"]) == (["_io.BufferedWriter"], 0)


def test_where_no_stack_leads_to_the_object_it_is_searched_for(monkeypatch: pytest.MonkeyPatch, python: str) -> None:
    monkeypatch.setattr(objects, "_INNERMOST_CALLS", 0)
    with hanging("threading_rlock.py", python) as hang:
        hit = hit_of(hang)
        assert (hit["type"], hit["offset"], first(hit["after"])) == ("_thread.RLock", 16, holder(hang))


def test_a_worker_like_the_one_before_is_answered_from_the_same_place(start: Start, lock_held_at_fork: str) -> None:
    pids = start(lock_held_at_fork, "3")
    texts = objects.records(looks(*pids), pids[1], LIMITS)
    records = {record["pid"]: record for record in map(json.loads, texts)}
    places = {(hit["at"], hit["type"]) for pid in pids[1:] for hit in records[pid]["hits"]}
    assert len(places) == 1
    assert records[pids[2]]["scanned"] <= records[pids[1]]["scanned"]


def test_what_is_no_python_is_not_searched(start: Start, lock_held_at_fork: str) -> None:
    parent, child = start(lock_held_at_fork)
    seen = looks(parent, child)
    seen[child]["python"] = None
    assert objects.records(seen, child, LIMITS) == []


# --- within limits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effort", "gave_up"),
    [(Effort(size=8 << 20), "after 8 MiB"), (Effort(seconds=0.0), "after 0.0 s"), (Effort(), None)],
)
def test_a_search_says_where_it_was_given_up(effort: Effort, gave_up: Optional[str]) -> None:
    block = bytearray(16 << 20)
    with opened(OURSELVES) as space:
        where = (Region(address_of(block), address_of(block) + len(block)),)
        assert list(search.find(space, {0x1234567890ABCDEF}, where, effort, LIMITS)) == []
    assert effort.gave_up == gave_up


def test_a_number_is_found_at_aligned_places_alone() -> None:
    number = 0x1234567890ABCDEF
    block = bytearray(64)
    low = (address_of(block) + 7) // 8 * 8
    start = low - address_of(block)
    block[start + 8 : start + 16] = POINTER.pack(number)
    block[start + 21 : start + 29] = POINTER.pack(number)
    with opened(OURSELVES) as space:
        found = list(search.find(space, {number}, (Region(low, low + 40),), Effort(), LIMITS))
    assert found == [(number, low + 8)]


def address_of(block: bytearray) -> int:
    from ctypes import addressof, c_char

    return addressof(c_char.from_buffer(block))


# --- objects ---------------------------------------------------------------------------------------------------------


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=256))
def test_an_ascii_text_is_read_as_it_is(text: str) -> None:
    with opened(OURSELVES) as space:
        assert Objects(space, VERSION).text(id(text)) == text


@given(st.integers(min_value=1, max_value=2**60 - 1))
def test_a_number_as_large_as_a_pthread_id_is_read_as_it_is(number: int) -> None:
    with opened(OURSELVES) as space:
        assert Objects(space, VERSION).number(id(number)) == number


@pytest.mark.parametrize("other", [-5, 2**60, 1.5, None, "", "ä", "x" * 257, b"x"])
def test_what_is_neither_is_none(other: object) -> None:
    with opened(OURSELVES) as space:
        read = Objects(space, VERSION)
        assert (read.text(id(other)), read.number(id(other))) == (None, None)


def test_the_object_around_a_place_is_the_one_that_reaches_there() -> None:
    lock = threading.RLock()
    with opened(OURSELVES) as space:
        read = Objects(space, VERSION)
        assert read.enclosing(id(lock) + 16) == Enclosing(id(lock), "_thread.RLock")
        assert read.enclosing(id(lock)) != Enclosing(id(lock), "_thread.RLock")


class OnlyBytes:
    """A process whose whole memory is these bytes, from this address on."""

    def __init__(self, low: int, content: bytes) -> None:
        self.low = low
        self.content = content

    def read(self, address: int, length: int) -> bytes:
        start = address - self.low
        return self.content[start : start + length] if 0 <= start <= len(self.content) else b""

    def pointer(self, address: int) -> Optional[int]:
        content = self.read(address, 8)
        return int(POINTER.unpack(content)[0]) if len(content) == 8 else None

    def mapping(self, address: int) -> Optional[Region]:
        high = self.low + len(self.content)
        return Region(self.low, high) if self.low <= address < high else None


@given(st.lists(st.one_of(st.integers(0x1000, 0x1100), st.integers(0, 2**64 - 1)), min_size=40, max_size=60))
def test_any_bytes_at_all_are_read_without_surprise(words: List[int]) -> None:
    content = b"".join(POINTER.pack(word) for word in words)
    read = Objects(cast("AddressSpace", OnlyBytes(0x1000, content)), VERSION)
    assert read.enclosing(0x1100) is None or isinstance(read.enclosing(0x1100), Enclosing)
    assert read.text(0x1010) is None
    assert read.number(0x1010) is None

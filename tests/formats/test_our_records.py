"""Our records of memory, lock objects, ends and sharers become facts of the process or of the dump."""

from __future__ import annotations

import json

import pytest

from forkhang_ipy import formats
from forkhang_ipy.model import Dump, Ends, Gap, LockObject, Memory, Process, Sharers

RLOCK = {
    "word": "0x55b30e78b590",
    "at": "0x7fdeaaad9a90",
    "mapping": None,
    "stack": False,
    "before": "0400",
    "after": "c0a6",
    "parent_after": "c0a7",
    "object": "0x7fdeaaad9a80",
    "type": "_thread.RLock",
    "offset": 16,
    "symbol": None,
    "variable": "lock",
    "module": None,
    "owner": None,
}
RUNTIME = {
    "word": "0x10",
    "at": "0x20",
    "mapping": "/usr/bin/python3.11",
    "stack": False,
    "before": "",
    "after": "",
    "parent_after": None,
    "object": None,
    "type": None,
    "offset": 40,
    "symbol": "_PyRuntime",
    "variable": None,
    "module": None,
    "owner": None,
}


def record(kind: str, **facts: object) -> str:
    return json.dumps({"forkhang": kind, **facts})


def test_the_bytes_before_a_word_are_kept_and_an_old_record_has_none() -> None:
    word = {"address": "0x10", "hex": "0200", "mapping": "[heap]", "shared": False}
    new, old = {**word, "before": "3100"}, {**word, "address": "0x20"}
    actual = formats.parse(record("memory/1", pid=7, words=[new, old]))
    assert actual.processes == (
        Process(
            pid=7,
            memory=(
                Memory(0x10, b"\2\0", "[heap]", shared=False, before=b"1\0"),
                Memory(0x20, b"\2\0", "[heap]", shared=False),
            ),
        ),
    )


def test_what_a_lock_belongs_to_is_a_fact_of_the_process_that_waits() -> None:
    actual = formats.parse(
        record("objects/1", pid=7, scanned=1, seconds=0.1, gave_up=None, hits=[RLOCK, RUNTIME]),
        record("proc/1", pid=7, sample=0),
    )
    (process,) = actual.processes
    assert process.objects == (
        LockObject(
            word=0x55B30E78B590,
            at=0x7FDEAAAD9A90,
            type="_thread.RLock",
            address=0x7FDEAAAD9A80,
            offset=16,
            before=b"\4\0",
            after=b"\xc0\xa6",
            parent_after=b"\xc0\xa7",
            variable="lock",
        ),
        LockObject(word=0x10, at=0x20, symbol="_PyRuntime", offset=40, mapping="/usr/bin/python3.11"),
    )
    assert actual.gaps == ()


def test_the_owner_of_an_import_lock_is_a_number() -> None:
    hit = {**RLOCK, "type": "_thread.lock", "module": "slow_module", "owner": "0x7f5c43ecd6c0", "variable": None}
    (process,) = formats.parse(record("objects/1", pid=7, gave_up=None, hits=[hit])).processes
    assert (process.objects[0].module, process.objects[0].owner) == ("slow_module", 0x7F5C43ECD6C0)


def test_a_search_that_was_given_up_is_a_gap() -> None:
    (gap,) = formats.parse(record("objects/1", pid=7, gave_up="after 256 MiB", hits=[])).gaps
    assert gap == Gap(7, "lock objects", "the search of its memory was given up after 256 MiB", gap.hint)


def test_who_has_a_pipe_open_is_a_fact_of_the_dump() -> None:
    ends = [{"pid": 7, "mode": "r", "command": "python x.py"}, {"pid": 1, "mode": "rw", "command": ""}]
    text = record("ends/1", resource="pipe:[5]", ends=ends, unseen=2, waiters=[{"pid": 7, "tid": 8}])
    assert formats.parse(text, text) == Dump(
        ends=(Ends("pipe:[5]", ((7, "r"), (1, "rw")), 2, ((7, 8),), ((7, "python x.py"),)),)
    )


def test_who_maps_a_shared_word_is_a_fact_of_the_dump() -> None:
    text = record(
        "sharers/1", word="0x10", pid=7, file="/mnt/shm/sem.x (deleted)", inode=3, offset=32, processes=[7, 8],
        value="0000", unseen=1,
    )  # fmt: skip
    assert formats.parse(text) == Dump(sharers=(Sharers(0x10, 7, "/mnt/shm/sem.x (deleted)", (7, 8), b"\0\0", 32, 1),))


@pytest.mark.parametrize("kind", ["ends/1", "sharers/1"])
def test_a_torn_record_says_nothing(kind: str) -> None:
    assert formats.parse(record(kind, pid=7)[:-3]) == Dump()

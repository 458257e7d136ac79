from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Callable, List, Optional, Tuple

import pytest

from forkhang_ipy.capture import libdw, native, proc_files
from forkhang_ipy.capture.sources import Limits, SourceFailed
from forkhang_ipy.capture.symbols import demangled

if TYPE_CHECKING:
    import ctypes

Start = Callable[..., Tuple[int, ...]]


@pytest.mark.parametrize("load", [libdw.of_system, libdw.of_wheel])
def test_either_library_unwinds_a_hung_child(
    start: Start, lock_held_at_fork: str, load: Callable[[], ctypes.CDLL]
) -> None:
    try:
        library = load()
    except OSError:
        pytest.skip("this machine has no such copy")
    child = start(lock_held_at_fork)[1]
    session = libdw.Session(child, library)
    try:
        stacks = session.unwind()
        names = [session.name(lookup) for _, lookup in stacks[child]]
        modules = [session.module(lookup) for _, lookup in stacks[child]]
    finally:
        session.close()
    assert list(stacks) == [child]
    assert any(name and name.startswith("PyThread_acquire_lock") for name in names)
    assert modules[0] is not None
    assert "libc" in modules[0][0]
    assert proc_files.tracer(proc_files.PROC / str(child)) is None


def test_every_live_task_is_unwound_and_the_ghost_is_not(start: Start, lock_held_at_fork: str) -> None:
    parent, child = start(lock_held_at_fork)
    unwound = native.unwind([native.Round(1, (parent, child))], 0.0, Limits(10.0))
    assert unwound.failures == {}
    looks = [json.loads(record) for record in unwound.records]
    tids = [[thread["tid"] for thread in look["threads"]] for look in looks]
    assert tids == [list(proc_files.numbered(proc_files.PROC / str(pid) / "task")) for pid in (parent, child)]
    assert [(look["pid"], look["sample"], look["source"], look["note"]) for look in looks] == [
        (parent, 1, "libdw", None),
        (child, 1, "libdw", None),
    ]


@pytest.mark.parametrize("here", [True, False])
def test_it_sees_the_same_from_here_and_from_apart(start: Start, lock_held_at_fork: str, *, here: bool) -> None:
    child = start(lock_held_at_fork)[1]
    record = native.unwind([native.Round(0, (child,))], 0.0, Limits(10.0), here=here).records[0]
    frames: List[Optional[str]] = [frame["function"] for frame in json.loads(record)["threads"][0]["native"]]
    assert any(name and name.startswith("PyThread_acquire_lock") for name in frames)
    assert {thread.name for thread in threading.enumerate()}.isdisjoint({"forkhang-unwind"})


def test_a_process_that_is_gone_is_a_failure_of_its_own(start: Start, lock_held_at_fork: str) -> None:
    child = start(lock_held_at_fork)[1]
    unwound = native.unwind([native.Round(0, (2**22 - 1, child))], 0.0, Limits(10.0))
    assert list(unwound.failures) == [2**22 - 1]
    assert len(unwound.records) == 1


def test_whoever_holds_us_up_is_left_behind_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def held_up(pid: int) -> libdw.Session:
        released.wait(10.0)
        raise SourceFailed(f"{pid}", "")

    monkeypatch.setattr(native, "Session", held_up)
    try:
        unwound = native.unwind([native.Round(0, (70, 71))], 0.0, Limits(0.1), here=True)
    finally:
        released.set()
    assert {pid: why for pid, (why, _) in unwound.failures.items()} == {
        70: "libdw: it did not end within its time limit",
        71: "libdw: it was held up by process 70",
    }


def test_a_session_with_nobody_raises() -> None:
    with pytest.raises(SourceFailed, match="libdw: No such"):
        libdw.Session(2**22 - 1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("_ZN2at8internal10set_in_parEv", "at::internal::set_in_par()"),
        ("_Zonk", "_Zonk"),
        ("futex_wait", "futex_wait"),
        (None, None),
    ],
)
def test_only_names_of_cplusplus_are_demangled(name: Optional[str], expected: Optional[str]) -> None:
    if demangled("_Z1fv") == "_Z1fv":
        pytest.skip("this machine has no C++ library")
    assert demangled(name) == expected

"""How the two columns are aligned, folded and marked."""

from __future__ import annotations

from dataclasses import replace
from typing import List, Optional, Tuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkhang_ipy.model import Column, Confidence, Evidence, Finding, Frame, FrameAt, Thread, Verdict, Who
from forkhang_ipy.views.rows import Cell, Mark, rows
from tests.views.samples import LIBPYTHON, STDLIB, at, evaluations, gh_112275, native, python

OWN = python(("inner", "/home/ada/a.py", 1), ("outer", "/home/ada/a.py", 2))


def shown(thread: Thread, finding: Optional[Finding] = None) -> List[Tuple[str, str]]:
    return [(_words(row.python), _words(row.native)) for row in rows(thread, finding)]


def _words(cell: Optional[Cell]) -> str:
    return "" if cell is None else cell.function + (f" {cell.mark.value}" if cell.mark else "")


def finding(thread: Thread, *frames: FrameAt, evidence: Tuple[Evidence, ...] = ()) -> Finding:
    return Finding(
        "s", "t", Verdict.FORK_DEADLOCK, Confidence.PROVEN, Who.CHILD, 1, thread, frames=frames, evidence=evidence
    )


def test_the_innermost_python_frame_stands_beside_the_outermost_native_frame_that_runs_for_it() -> None:
    found = gh_112275().findings[0]
    assert shown(found.thread, found) == [
        ("", "futex_wait"),
        ("", "PyThread_acquire_lock_timed"),
        ("", "_PyThreadState_DeleteExcept BLOCKED HERE"),
        ("", "PyOS_AfterFork_Child"),
        ("_launch", "os_fork"),
        ("5 frames of multiprocessing and torch", "19 interpreter frames"),
        ("make_loader FORKED HERE", "4 interpreter frames"),
        ("<module>", "18 interpreter frames"),
    ]


def test_each_evaluation_runs_one_python_frame_where_their_numbers_are_the_same() -> None:
    stack = (
        *native("libc.so.6", "select"),
        *evaluations(OWN[:1]),
        *native("numpy.so", "sort"),
        *evaluations(OWN[1:]),
    )
    assert shown(Thread(python=OWN, native=stack)) == [
        ("inner", "select"),
        ("", "4 interpreter frames"),
        ("outer", "sort"),
        ("", "4 interpreter frames"),
    ]


def test_since_3_11_an_evaluation_can_run_several_and_nothing_is_claimed() -> None:
    three = (*OWN, *python(("<module>", "/home/ada/a.py", 3)))
    stack = (
        *native("libc.so.6", "select"),
        *evaluations(OWN[:1]),
        *native("numpy.so", "sort"),
        *evaluations(OWN[1:]),
    )
    assert shown(Thread(python=three, native=stack)) == [
        ("inner", "select"),
        ("", "4 interpreter frames"),
        ("", "sort"),
        ("outer", ""),
        ("<module>", "4 interpreter frames"),
    ]


def test_native_frames_outside_of_python_stand_below_it() -> None:
    stack = (*native("libc.so.6", "select"), *evaluations(OWN), *native("runtime.so", "pool_worker"))
    assert shown(Thread(python=OWN, native=stack))[-1] == ("", "pool_worker")


def test_a_thread_without_python_has_its_native_frames_all_the_same() -> None:
    assert shown(Thread(native=native("libgomp.so.1", "do_wait", "gomp_thread_start"))) == [
        ("", "do_wait"),
        ("", "gomp_thread_start"),
    ]


def test_a_nameless_frame_of_the_interpreter_is_folded_and_one_of_a_library_is_not() -> None:
    stack = (Frame(None, module="/srv/libstore.so", address=16), Frame(None, module=LIBPYTHON), Frame("select"))
    assert shown(Thread(native=stack)) == [("", "(no name)"), ("", "1 interpreter frame"), ("", "select")]


def test_two_library_frames_in_a_row_are_not_worth_a_fold() -> None:
    stack = (*OWN[:1], *python(("run", STDLIB + "threading.py", 1), ("_b", STDLIB + "threading.py", 2)))
    assert shown(Thread(python=stack)) == [("inner", ""), ("run", ""), ("_b", "")]


def test_a_fold_names_three_packages_at_most() -> None:
    files = ["threading.py", "queue.py", "site-packages/torch/a.py", "site-packages/numpy/b.py"]
    stack = (*OWN[:1], *python(*[("f", STDLIB + file, 1) for file in files]))
    assert shown(Thread(python=stack))[1] == ("4 frames of threading, queue and others", "")


def test_a_decisive_frame_is_never_folded() -> None:
    stack = native(LIBPYTHON, "_PyEval_EvalFrameDefault", "_PyFunction_Vectorcall", "_start")
    thread = Thread(native=stack)
    assert shown(thread, finding(thread, FrameAt(Column.NATIVE, 1))) == [
        ("", "1 interpreter frame"),
        ("", "_PyFunction_Vectorcall BLOCKED HERE"),
        ("", "1 interpreter frame"),
    ]


def test_blocked_here_stands_at_who_wanted_to_wait_not_at_the_wait() -> None:
    thread = Thread(native=native("libc.so.6", "futex_wait", "___pthread_mutex_lock", "store_lock"))
    assert shown(thread, finding(thread, *at(Column.NATIVE, 0, 1, 2)))[2] == ("", "store_lock BLOCKED HERE")


def test_blocked_here_stands_at_the_wait_where_nothing_else_is_known() -> None:
    thread = Thread(native=native("libc.so.6", "futex_wait", "store_lock"))
    assert shown(thread, finding(thread, *at(Column.NATIVE, 0)))[0] == ("", "futex_wait BLOCKED HERE")


@pytest.mark.parametrize("verdict", [Verdict.NOT_HUNG, Verdict.FORK_ERROR])
def test_who_is_not_hung_is_blocked_nowhere(verdict: Verdict) -> None:
    thread = Thread(native=native("a.so", "f"))
    (row,) = rows(thread, replace(finding(thread, *at(Column.NATIVE, 0)), verdict=verdict))
    assert row.native == Cell("f", "a.so", decisive=True)


def test_one_frame_can_carry_several_proofs() -> None:
    thread = Thread(native=native("a.so", "f"))
    evidence = (Evidence("one", at(Column.NATIVE, 0)), Evidence("two", at(Column.NATIVE, 0, 0)))
    (row,) = rows(thread, finding(thread, evidence=evidence))
    assert row.native == Cell("f", "a.so", proof=(1, 2), decisive=True)


NAMES = st.sampled_from(["_PyEval_EvalFrameDefault", "_PyFunction_Vectorcall", "select", "sort", "start_thread"])
NATIVE = st.lists(NAMES, max_size=12).map(lambda names: native(LIBPYTHON, *names))
FILES = st.sampled_from(["/home/ada/a.py", STDLIB + "threading.py", STDLIB + "queue.py"])
PYTHON = st.lists(FILES, max_size=8).map(lambda files: tuple(Frame("f", file, n) for n, file in enumerate(files)))


@given(PYTHON, NATIVE)
def test_each_frame_is_shown_once_and_in_order(frames: Tuple[Frame, ...], natives: Tuple[Frame, ...]) -> None:
    thread = Thread(python=frames, native=natives)
    found = rows(thread)
    left = [one for row in found if row.python for one in (row.python.folded or (row.python.place,))]
    right = [one for row in found if row.native for one in (row.native.folded or (row.native.function,))]
    assert [one.line if isinstance(one, Frame) else int(one.split(":")[1]) for one in left] == [
        frame.line for frame in frames
    ]
    assert [one.function if isinstance(one, Frame) else one for one in right] == [frame.function for frame in natives]


@given(PYTHON, NATIVE, st.integers(0, 20), st.sampled_from(Column))
def test_any_place_can_be_pointed_at(
    frames: Tuple[Frame, ...], natives: Tuple[Frame, ...], index: int, column: Column
) -> None:
    thread = Thread(python=frames, native=natives)
    pointed = finding(thread, FrameAt(column, index))
    cells = [cell for row in rows(thread, pointed) for cell in (row.python, row.native) if cell is not None]
    exists = index < len(frames if column is Column.PYTHON else natives)
    assert [cell.mark for cell in cells if cell.mark] == [Mark.BLOCKED_HERE] * exists


def test_a_vendors_frames_fold_under_its_name_and_the_users_own_stand_out() -> None:
    cann = "/usr/local/Ascend/ascend-toolkit/latest/lib64/libascendcl.so"
    natives = (
        Frame("aclrtSynchronizeDevice", module=cann),
        Frame("rtDeviceSynchronize", module="/usr/local/Ascend/lib64/libruntime.so"),
        Frame("train_step", module="/app/libmodel.so"),
    )
    shown = [row.native.function for row in rows(Thread(native=natives)) if row.native]
    assert shown == ["2 CANN frames", "train_step"]

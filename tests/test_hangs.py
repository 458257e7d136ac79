"""The programs that hang do hang, on every interpreter of this machine, and leave nothing behind."""

from __future__ import annotations

import sys
import time
from typing import Callable, Dict, List, Tuple

import pytest

from tests.hangs.ready import cpu_ticks, tasks
from tests.live import HANGS, INTERPRETERS, NotReadyError, affected, attach_library, hanging, parallel_library, session

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the programs need Linux's /proc")

CHILD_HANGS = [
    "import_lock.py",
    "lost_threads.py",
    "plain_fork.py",
    "pthread_mutex.py",
    "register_at_fork_hook.py",
    "stdio_lock.py",
    "threading_lock.py",
    "threading_rlock.py",
]
CHILD_RESTS = ["crossed_locks_in_child.py", "full_pipe.py", "sleeping_worker.py", "spawn_queue.py"]
CHILD_RUNS = ["computing_worker.py", "pthread_spin.py"]
WITH_LIBRARY: Dict[str, Callable[[], str]] = {"gomp.py": parallel_library, "head_lock.py": attach_library}
OTHERS = ["crossed_locks.py", "event_forever.py", "healthy_parent.py", "idle_pool.py"]
NO_PROGRAMS = ["ready.py", "slow_module.py"]

OLDEST_AND_NEWEST = [*INTERPRETERS[:1], *INTERPRETERS[1:][-1:]]  # enough where the version hardly matters
AFFECTED = [(version, python) for version, python in INTERPRETERS if affected(version)]
NEWEST_SOUND = [(version, python) for version, python in INTERPRETERS if not affected(version)][-1:]


def on(interpreters: List[Tuple[str, str]]) -> pytest.MarkDecorator:
    versions, paths = [version for version, _ in interpreters], [path for _, path in interpreters]
    return pytest.mark.parametrize("python", paths, ids=versions)


def look_twice(pid: int) -> Tuple[Dict[int, Tuple[str, int]], Dict[int, Tuple[str, int]]]:
    before = tasks(pid)
    time.sleep(0.3)
    return before, tasks(pid)


def assert_rests(pid: int) -> None:
    before, after = look_twice(pid)
    assert after == before
    assert {state for state, _ in after.values()} == {"S"}


def assert_gone(pid: int) -> None:
    assert {state for state, _ in tasks(pid).values()} <= {"Z"}, "at most init has not yet read its exit status"


@on(INTERPRETERS)
@pytest.mark.parametrize("program", CHILD_HANGS)
def test_the_child_hangs_and_the_parent_waits_for_it(program: str, python: str) -> None:
    with hanging(program, python) as hang:
        assert hang.child is not None
        assert_rests(hang.child)
        assert list(tasks(hang.child)) == [hang.child]
        assert tasks(hang.parent)[hang.parent][0] == "S"
        assert hang.facts["holder_tid"] in tasks(hang.parent)
    assert_gone(hang.parent)
    assert_gone(hang.child)


@on(AFFECTED)
def test_the_child_hangs_in_gh_112275_where_python_has_it(python: str) -> None:
    with hanging("head_lock.py", python, attach_library()) as hang:
        assert hang.child is not None
        assert_rests(hang.child)
        assert_rests(hang.parent)
        assert list(tasks(hang.parent)) == [hang.parent], "the native threads have ended"
    assert_gone(hang.child)


@on(NEWEST_SOUND)
def test_a_fork_that_never_hangs_is_given_up_with_a_reason(python: str) -> None:
    with pytest.raises(NotReadyError, match=r"ended with 3, .*\n?.*without gh-112275"), hanging(
        "head_lock.py", python, attach_library(), "2"
    ):
        pass


@on(OLDEST_AND_NEWEST)
def test_the_child_hangs_in_gomp(python: str) -> None:
    with hanging("gomp.py", python, parallel_library()) as hang:
        assert hang.child is not None
        assert_rests(hang.child)
        assert list(tasks(hang.child)) == [hang.child]


@on(OLDEST_AND_NEWEST)
@pytest.mark.parametrize("program", CHILD_RESTS)
def test_the_child_of_a_lookalike_rests(program: str, python: str) -> None:
    with hanging(program, python) as hang:
        assert hang.child is not None
        assert_rests(hang.child)
        assert tasks(hang.parent)[hang.parent][0] == "S"
    assert_gone(hang.child)


@on(OLDEST_AND_NEWEST)
@pytest.mark.parametrize("program", CHILD_RUNS)
def test_the_child_burns_processor_time(program: str, python: str) -> None:
    with hanging(program, python) as hang:
        assert hang.child is not None
        before = cpu_ticks(hang.child)
        time.sleep(0.3)
        assert cpu_ticks(hang.child) > before + 3
    assert_gone(hang.child)


@on(OLDEST_AND_NEWEST)
@pytest.mark.parametrize("program", ["crossed_locks.py", "event_forever.py"])
def test_a_single_process_rests(program: str, python: str) -> None:
    with hanging(program, python) as hang:
        assert hang.child is None
        assert_rests(hang.pid)
    assert_gone(hang.pid)


@on(OLDEST_AND_NEWEST)
def test_all_workers_of_an_idle_pool_rest(python: str) -> None:
    with hanging("idle_pool.py", python) as hang:
        workers = hang.facts["workers"]
        assert isinstance(workers, list)
        assert len(workers) == 3
        for worker in workers:
            assert_rests(worker)
    assert not session(hang.pid)


@on(OLDEST_AND_NEWEST)
def test_the_grandchild_of_a_healthy_parent_computes_and_the_worker_rests(python: str) -> None:
    with hanging("healthy_parent.py", python) as hang:
        grandchild = hang.facts["grandchild"]
        assert isinstance(grandchild, int)
        assert hang.child is not None
        assert_rests(hang.child)
        assert tasks(grandchild)[grandchild][0] == "R"
    assert_gone(grandchild)


def test_every_program_is_tried_here() -> None:
    tried = [*CHILD_HANGS, *CHILD_RESTS, *CHILD_RUNS, *WITH_LIBRARY, *OTHERS]
    assert sorted([*tried, *NO_PROGRAMS]) == sorted(path.name for path in HANGS.glob("*.py"))


def test_a_program_that_never_hangs_leaves_nothing_behind() -> None:
    with pytest.raises(NotReadyError, match=r"said nothing in 0\.5 s"), hanging("slow_module.py", timeout=0.5):
        pass


@pytest.mark.parametrize(
    ("version", "has_it"),
    [
        ("3.8.19", True),
        ("3.8.20", False),
        ("3.9.19", True),
        ("3.9.20", False),
        ("3.10.14", True),
        ("3.10.15", False),
        ("3.11.2", True),
        ("3.11.10", False),
        ("3.12.0", False),
        ("3.13.0", False),
    ],
)
def test_gh_112275_is_told_by_version(version: str, *, has_it: bool) -> None:
    assert affected(version) is has_it

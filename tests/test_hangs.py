"""The programs that hang do hang, on every interpreter of this machine, and leave nothing behind."""

from __future__ import annotations

import sys
import time
from typing import Callable, ContextManager, Dict, List, Tuple

import pytest

from tests.hangs.ready import cpu_ticks, is_task_still, tasks
from tests.live import (
    HANGS,
    INTERPRETERS,
    Hang,
    NotReadyError,
    affected,
    at_fork_library,
    attach_library,
    hanging,
    parallel_library,
    pool_library,
    session,
    with_packages,
)

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
MORE_CHILD_HANGS = ["buffered_writer.py", "faulthandler_armed.py", "hashlib_object.py", "logging_handler.py"]
CHILD_OF_TWO_THREADS_HANGS = ["child_with_threads.py", "feeder.py"]
CHILD_RESTS = [
    "crossed_locks_in_child.py",
    "event_in_child.py",
    "feeder_joined_at_exit.py",
    "full_pipe.py",
    "self_deadlock_in_child.py",
    "semlock_holder_killed.py",
    "simple_queue_child.py",
    "sleeping_worker.py",
    "spawn_queue.py",
]
CHILD_RUNS = ["computing_worker.py", "pthread_spin.py", "slow_fork.py"]
SINGLE_RESTS = [
    "asyncio_idle.py",
    "before_hook.py",
    "crossed_locks.py",
    "event_forever.py",
    "signal_in_logging.py",
    "thread_pool_idle.py",
]
NEEDS_GH_112275 = ["head_lock.py", "preexec_fn.py"]
WITH_LIBRARY: Dict[str, Callable[[], str]] = {
    "at_fork_c_handler.py": at_fork_library,
    "gomp.py": parallel_library,
    "native_pool_idle.py": pool_library,
}
WITH_PACKAGES = {"grpc_child.py": "grpc", "polars_child.py": "polars", "sklearn_child.py": "sklearn"}
OTHERS = [
    "healthy_parent.py",
    "idle_pool.py",
    "killed_worker.py",
    "native_gil.py",
    "nested_pools.py",
    "own_doing.py",
    "spawn_from_main.py",
    "stopped.py",
    "tree.py",
    "zombie_child.py",
]
NO_PROGRAMS = ["ready.py", "slow_module.py"]

OLDEST_AND_NEWEST = [*INTERPRETERS[:1], *INTERPRETERS[1:][-1:]]  # enough where the version hardly matters
AFFECTED = [(version, python) for version, python in INTERPRETERS if affected(version)]
NEWEST_SOUND = [(version, python) for version, python in INTERPRETERS if not affected(version)][-1:]


def on(interpreters: List[Tuple[str, str]]) -> pytest.MarkDecorator:
    versions, paths = [version for version, _ in interpreters], [path for _, path in interpreters]
    return pytest.mark.parametrize("python", paths, ids=versions)


def with_library(program: str, python: str) -> ContextManager[Hang]:
    return hanging(program, python, WITH_LIBRARY[program]())


def look_twice(pid: int) -> Tuple[Dict[int, Tuple[str, int]], Dict[int, Tuple[str, int]]]:
    before = tasks(pid)
    time.sleep(0.2)
    return before, tasks(pid)


def assert_rests(pid: int) -> None:
    before, after = look_twice(pid)
    assert after == before
    assert {state for state, _ in after.values()} == {"S"}


def assert_gone(pid: int) -> None:
    assert {state for state, _ in tasks(pid).values()} <= {"Z"}, "at most init has not yet read its exit status"


def assert_child_hangs(program: str, python: str) -> None:
    with hanging(program, python) as hang:
        assert hang.child is not None
        assert_rests(hang.child)
        assert list(tasks(hang.child)) == [hang.child]
        assert tasks(hang.parent)[hang.parent][0] == "S"
        assert hang.facts["holder_tid"] in tasks(hang.parent)
    assert_gone(hang.parent)
    assert_gone(hang.child)


@on(INTERPRETERS)
@pytest.mark.parametrize("program", CHILD_HANGS)
def test_the_child_hangs_and_the_parent_waits_for_it(program: str, python: str) -> None:
    assert_child_hangs(program, python)


@on(OLDEST_AND_NEWEST)
@pytest.mark.parametrize("program", MORE_CHILD_HANGS)
def test_the_child_hangs_in_a_lock_of_the_standard_library(program: str, python: str) -> None:
    assert_child_hangs(program, python)


@on(OLDEST_AND_NEWEST)
def test_the_child_hangs_in_a_lock_of_its_handlers_own(python: str) -> None:
    with hanging("logging_handler.py", python, "emit") as hang:
        assert hang.child is not None
        assert_rests(hang.child)
        assert hang.facts["holder_tid"] in tasks(hang.parent)


@on(OLDEST_AND_NEWEST)
@pytest.mark.parametrize("program", CHILD_OF_TWO_THREADS_HANGS)
def test_the_child_hangs_with_a_thread_of_its_own(program: str, python: str) -> None:
    with hanging(program, python) as hang:
        assert hang.child is not None
        assert_rests(hang.child)
        assert len(tasks(hang.child)) == 2
        assert hang.facts["holder_tid"] in tasks(hang.parent)
    assert_gone(hang.child)


@on(OLDEST_AND_NEWEST)
def test_the_child_hangs_in_a_fork_that_python_does_not_know_of(python: str) -> None:
    with with_library("at_fork_c_handler.py", python) as hang:
        assert hang.child is not None
        assert_rests(hang.child)
        assert list(tasks(hang.child)) == [hang.child]
        assert hang.facts["holder_tid"] in tasks(hang.parent)


@on(OLDEST_AND_NEWEST)
def test_the_grandchild_hangs_and_both_above_it_wait(python: str) -> None:
    with hanging("tree.py", python) as hang:
        grandchild = hang.facts["grandchild"]
        assert isinstance(grandchild, int)
        assert hang.child is not None
        assert_rests(grandchild)
        assert_rests(hang.child)
        assert_rests(hang.parent)
        assert hang.facts["holder_tid"] in tasks(hang.child)
    assert_gone(grandchild)


@on(AFFECTED)
@pytest.mark.parametrize("program", NEEDS_GH_112275)
def test_the_child_hangs_in_gh_112275_where_python_has_it(program: str, python: str) -> None:
    with hanging(program, python, attach_library()) as hang:
        assert hang.child is not None
        assert_rests(hang.child)
        assert_rests(hang.parent)
        assert list(tasks(hang.parent)) == [hang.parent], "the native threads have ended"
    assert_gone(hang.child)


@on(NEWEST_SOUND)
@pytest.mark.parametrize("program", NEEDS_GH_112275)
def test_a_fork_that_never_hangs_is_given_up_with_a_reason(program: str, python: str) -> None:
    with pytest.raises(NotReadyError, match=r"ended with 3, .*\n?.*without gh-112275"), hanging(
        program, python, attach_library(), "1"
    ):
        pass


@on(OLDEST_AND_NEWEST)
def test_the_child_hangs_in_gomp(python: str) -> None:
    with with_library("gomp.py", python) as hang:
        assert hang.child is not None
        assert_rests(hang.child)
        assert list(tasks(hang.child)) == [hang.child]


@pytest.mark.parametrize("program", ["polars_child.py", "sklearn_child.py"])
def test_the_child_hangs_in_a_package(program: str) -> None:
    with hanging(program, with_packages(WITH_PACKAGES[program])) as hang:
        assert hang.child is not None
        assert_rests(hang.child)
        assert list(tasks(hang.child)) == [hang.child]


@pytest.mark.parametrize("mode", ["call", "off"])
def test_the_child_waits_in_grpc(mode: str) -> None:
    with hanging("grpc_child.py", with_packages("grpc"), mode) as hang:
        assert hang.child is not None
        assert tasks(hang.child)[hang.child][0] == "S"
        assert len(tasks(hang.child)) == 1 or mode == "call"


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
def test_the_child_of_a_parent_with_idle_native_threads_computes(python: str) -> None:
    with with_library("native_pool_idle.py", python) as hang:
        assert hang.child is not None
        assert_rests(hang.parent)
        assert len(tasks(hang.parent)) == 5
        assert list(tasks(hang.child)) == [hang.child]
        assert tasks(hang.child)[hang.child][0] == "R"


@on(OLDEST_AND_NEWEST)
@pytest.mark.parametrize(
    ("program", "arguments", "state"),
    [("stopped.py", [], "T"), ("zombie_child.py", ["queue"], "Z"), ("zombie_child.py", ["sleep"], "Z")],
)
def test_the_child_is_stopped_or_dead(program: str, arguments: List[str], state: str, python: str) -> None:
    with hanging(program, python, *arguments) as hang:
        assert hang.child is not None
        assert tasks(hang.child)[hang.child][0] == state
        assert_rests(hang.parent)
    assert_gone(hang.child)


@on(OLDEST_AND_NEWEST)
def test_the_main_thread_rests_with_the_gil_and_the_holder_asks_for_it(python: str) -> None:
    with hanging("native_gil.py", python) as hang:
        assert hang.child is not None
        assert set(tasks(hang.child)) == {hang.child, hang.facts["holder_tid"]}
        assert is_task_still(hang.child)
    assert_gone(hang.child)


@on(OLDEST_AND_NEWEST)
@pytest.mark.parametrize("program", SINGLE_RESTS)
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
def test_the_workers_that_replaced_a_killed_one_rest(python: str) -> None:
    with hanging("killed_worker.py", python) as hang:
        workers, killed = hang.facts["workers"], hang.facts["killed"]
        assert isinstance(workers, list)
        assert isinstance(killed, list)
        assert (len(workers), len(killed)) == (2, 1)
        for worker in workers:
            assert_rests(worker)
        assert not tasks(killed[0])
    assert not session(hang.pid)


@on(OLDEST_AND_NEWEST)
def test_workers_that_cannot_find_their_initializer_die_without_end(python: str) -> None:
    with hanging("spawn_from_main.py", python) as hang:
        workers = hang.facts["workers"]
        assert isinstance(workers, list)
        before = set(session(hang.pid))
        deadline = time.monotonic() + 10
        while set(session(hang.pid)) <= before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert set(session(hang.pid)) - before - set(workers), "there is a new worker"
        assert tasks(hang.parent)[hang.parent][0] == "S"
    assert not session(hang.pid)


@on(OLDEST_AND_NEWEST)
def test_a_worker_that_cannot_find_its_job_is_replaced_once(python: str) -> None:
    with hanging("spawn_from_main.py", python, "job") as hang:
        workers = hang.facts["workers"]
        assert isinstance(workers, list)
        assert len(workers) == 2
        assert [bool(tasks(worker)) for worker in workers] == [False, True]
    assert not session(hang.pid)


@on(OLDEST_AND_NEWEST)
@pytest.mark.parametrize("program", ["healthy_parent.py", "nested_pools.py"])
def test_the_grandchild_of_a_healthy_parent_computes_and_the_worker_waits(program: str, python: str) -> None:
    with hanging(program, python) as hang:
        grandchild = hang.facts["grandchild"]
        assert isinstance(grandchild, int)
        assert hang.child is not None
        assert is_task_still(hang.child)
        assert tasks(grandchild)[grandchild][0] == "R"
    assert_gone(grandchild)


def test_a_worker_hangs_beside_a_thread_that_ticks() -> None:
    with hanging("child_with_threads.py", sys.executable, "ticking") as hang:
        assert hang.child
        main, ticking = sorted(tasks(hang.child))
        before = tasks(hang.child)
        time.sleep(0.3)
        after = tasks(hang.child)
        assert (main, before[main]) == (hang.child, after[main])
        assert before[ticking] != after[ticking]
    assert_gone(hang.child)


@pytest.mark.parametrize("what", ["twice", "parent-too", "ended", "after-fork", "limit", "queue", "signal"])
def test_what_the_child_did_by_itself_makes_it_wait(what: str) -> None:
    with hanging("own_doing.py", sys.executable, what) as hang:
        assert hang.child
        before = tasks(hang.child)
        time.sleep(0.2)
        assert tasks(hang.child) == before
        assert [state for state, _ in before.values()] == ["S"]
    assert_gone(hang.child)


def test_every_program_is_tried_here() -> None:
    children = [
        *CHILD_HANGS,
        *MORE_CHILD_HANGS,
        *CHILD_OF_TWO_THREADS_HANGS,
        *NEEDS_GH_112275,
        *CHILD_RESTS,
        *CHILD_RUNS,
    ]
    tried = [*children, *WITH_LIBRARY, *WITH_PACKAGES, *SINGLE_RESTS, *OTHERS]
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

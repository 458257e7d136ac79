"""Who can never go on: cycles, a holder that is gone, a parent that waits for a stuck child, and any-of waits."""

from __future__ import annotations

from typing import Optional

import pytest

from forkhang_ipy.analysis.graph import End, Graph, graph, stuck
from forkhang_ipy.model import Dump, Frame, Process, Thread, Told, Wait, WaitKind

A, B, C = (1, 1), (2, 2), (3, 3)


@pytest.mark.parametrize(
    ("waits", "left"),
    [
        pytest.param({A: (End.OUTSIDE,)}, set(), id="one that waits for the world is not stuck"),
        pytest.param({A: (End.GONE,)}, {A}, id="one that waits for a thread that is gone is stuck"),
        pytest.param({A: (B,), B: (A,)}, {A, B}, id="a cycle is stuck"),
        pytest.param({A: (A,)}, {A}, id="one that waits for itself is stuck"),
        pytest.param({A: (B,), B: (End.GONE,)}, {A, B}, id="who waits for a stuck one is stuck"),
        pytest.param({A: (B, C), B: (End.GONE,), C: (End.OUTSIDE,)}, {B}, id="any of several is enough"),
        pytest.param({A: (B, C), B: (C,), C: (B,)}, {A, B, C}, id="none of several is not enough"),
        pytest.param({A: (B,), B: (C,), C: (End.OUTSIDE,)}, set(), id="a chain that ends well goes on"),
    ],
)
def test_everything_goes_on_that_can(waits: Graph, left: object) -> None:
    assert stuck(waits) == left


LOCKED = Wait(WaitKind.LOCK, Told.KERNEL, call="futex", address=0x7F00, value=0, private=True, timeout=False)
RUNS = Wait(WaitKind.ON_CPU, Told.KERNEL)


def child_waits(pid: Optional[int]) -> Wait:
    return Wait(WaitKind.CHILD, Told.KERNEL, call="wait4", target=pid, timeout=False)


def process(pid: int, *threads: Thread, parent: Optional[int] = None) -> Process:
    tids = tuple(thread.tid for thread in threads if thread.tid is not None and not thread.ghost)
    return Process(pid, parent=parent, tasks=tids, threads=threads)


def test_a_lone_thread_in_a_lock_and_its_parent_are_stuck() -> None:
    dump = Dump((process(1, Thread(tid=1, wait=child_waits(2))), process(2, Thread(tid=2, wait=LOCKED), parent=1)))
    assert stuck(graph(dump)) == {(1, 1), (2, 2)}


def test_a_lock_of_unknown_owner_may_be_released_by_any_live_thread_of_the_process() -> None:
    dump = Dump((process(1, Thread(tid=1, wait=LOCKED), Thread(tid=9, wait=RUNS)),))
    assert stuck(graph(dump)) == set()


def test_a_ghost_releases_nothing() -> None:
    dump = Dump((process(1, Thread(tid=1, wait=LOCKED), Thread(tid=9, ghost=True)),))
    assert stuck(graph(dump)) == {(1, 1)}


def test_a_wait_with_a_timeout_is_never_stuck() -> None:
    limited = Wait(WaitKind.LOCK, Told.KERNEL, address=0x7F00, value=0, private=True, timeout=True)
    assert stuck(graph(Dump((process(1, Thread(tid=1, wait=limited)),)))) == set()


def test_a_parent_whose_child_was_not_seen_or_has_ended_is_not_stuck() -> None:
    unseen = Dump((process(1, Thread(tid=1, wait=child_waits(2))),))
    ended = Dump((*unseen.processes, Process(2, parent=1, ended=True, threads=(Thread(tid=2, wait=LOCKED),))))
    assert [*stuck(graph(unseen)), *(stuck(graph(ended)) & {(1, 1)})] == []


def test_an_event_that_only_a_signal_handler_could_set_is_no_proof() -> None:
    event = Wait(WaitKind.NOTIFICATION, Told.KERNEL, address=0x7F00, value=0, private=True, timeout=False)
    in_python = Thread(tid=1, wait=event, python=(Frame("wait", "/usr/lib/python3.11/threading.py", 320),))
    in_native = Thread(tid=1, wait=event, native=(Frame("pthread_cond_wait"),))
    assert stuck(graph(Dump((process(1, in_python),)))) == set()
    assert stuck(graph(Dump((process(1, in_native),)))) == {(1, 1)}

"""Forked or started anew: by where the kernel put things, else by the stack."""

from __future__ import annotations

from typing import Optional, Tuple

import pytest

from forkhang_ipy.analysis.ancestry import with_ancestry
from forkhang_ipy.model import Dump, Frame, Process, Thread

HERE, THERE = (1, 2, 3, 4), (5, 6, 7, 8)
LAUNCH = (Frame("Popen._launch", "multiprocessing/popen_fork.py", 71),)
SPAWNED = (Frame("spawn_main", "/usr/lib/python3.11/multiprocessing/spawn.py", 122),)


@pytest.mark.parametrize(
    ("parent", "layout", "python", "expected"),
    [
        pytest.param(9, HERE, (), True, id="equal places are a fork"),
        pytest.param(9, THERE, (), False, id="other places are an exec"),
        pytest.param(9, HERE[:2], (), None, id="too few places say nothing"),
        pytest.param(9, (), LAUNCH, True, id="the library's fork at the root of the stack"),
        pytest.param(9, (), SPAWNED, False, id="a spawned worker's root"),
        pytest.param(1, THERE, (), None, id="an orphan is not compared with init"),
        pytest.param(1, THERE, LAUNCH, True, id="an orphan's stack still tells"),
        pytest.param(9, THERE, LAUNCH, True, id="an orphan that a reaper took in"),
    ],
)
def test_forked_or_started_anew(
    parent: int, layout: Tuple[int, ...], python: Tuple[Frame, ...], expected: Optional[bool]
) -> None:
    child = Process(20, parent=parent, layout=layout, threads=(Thread(tid=20, python=python),))
    told = with_ancestry(Dump((Process(parent, layout=HERE), child))).process(20)
    assert told is not None
    assert told.forked is expected
    assert (told.forked_why is None) == (expected is None)


def test_a_ghost_tells_nothing_of_the_process_that_has_it() -> None:
    ghost = Thread(python=LAUNCH, ghost=True)
    told = with_ancestry(Dump((Process(20, threads=(Thread(tid=20), ghost)),))).process(20)
    assert told is not None
    assert told.forked is None

"""Who else has open, or has mapped, what a task waits for."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import PurePath
from typing import Any, Callable, Dict, List, Tuple

import pytest

from forkhang_ipy.capture import procfs, sharing
from forkhang_ipy.capture.procfs import ProcRecord
from forkhang_ipy.capture.sources import Limits
from tests.hangs.ready import PATIENCE, is_still
from tests.live import hanging

Start = Callable[..., Tuple[int, ...]]

LIMITS = Limits(10.0)
WAITING_FOR_A_PIPE = """
import os, select, sys
reading, writing = os.pipe()
child = os.fork()
if not child:
    os.close(writing)
    {wait}
print("ready", child, flush=True)
os.waitpid(child, 0)
"""
WAYS_TO_WAIT = {
    "read": "os.read(reading, 1)",
    "poll": "poll = select.poll(); poll.register(reading); poll.poll()",
    "select": "select.select([reading], [], [])",
    "epoll": "epoll = select.epoll(); epoll.register(reading, select.EPOLLIN); epoll.poll()",
}


def looks(*pids: int) -> Dict[int, ProcRecord]:
    found = (procfs.read(pid, 0, 0.0) for pid in pids)
    return {look["pid"]: look for look in found if look}


def asleep(pid: int) -> Dict[int, ProcRecord]:
    """The look at a child that has come to its wait."""
    deadline = time.monotonic() + PATIENCE
    while not is_still(pid):
        assert time.monotonic() < deadline
    return looks(pid)


def told(seen: Dict[int, ProcRecord]) -> List[Dict[str, Any]]:
    return [json.loads(text) for text in sharing.records(seen, LIMITS)]


@pytest.mark.parametrize("way", WAYS_TO_WAIT)
def test_both_ends_of_a_pipe_that_is_waited_for_are_told(start: Start, way: str) -> None:
    parent, child = start(WAITING_FOR_A_PIPE.format(wait=WAYS_TO_WAIT[way]))
    (ends,) = told(asleep(child))
    assert ends["forkhang"] == "ends/1"
    assert ends["resource"].startswith("pipe:[")
    assert [(end["pid"], end["mode"]) for end in ends["ends"]] == [(parent, "rw"), (child, "r")]
    assert ends["waiters"] == [{"pid": child, "tid": child}]
    assert ends["ends"][0]["command"].startswith(f"{sys.executable} -c")
    assert ends["unseen"] == 0 or os.geteuid() != 0


def test_all_who_map_a_shared_semaphore_are_told() -> None:
    with hanging("semlock_holder_killed.py") as hang:
        assert hang.child
        (sharers,) = told(looks(hang.child))
    assert (sharers["forkhang"], sharers["pid"], sharers["offset"]) == ("sharers/1", hang.child, 0)
    assert PurePath(sharers["file"]).name.startswith("sem.")
    assert sharers["processes"] == sorted([hang.parent, hang.child])
    assert sharers["value"][:8] == "00000000"


def test_a_lock_of_the_process_alone_has_no_sharers(start: Start, lock_held_at_fork: str) -> None:
    assert told(looks(start(lock_held_at_fork)[1])) == []

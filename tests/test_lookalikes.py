"""Live: what looks like a fork deadlock and is none is never called one."""

from __future__ import annotations

import random
import sys
import time
from typing import Optional

import pytest

from forkhang_ipy import api
from forkhang_ipy.capture.records import Options
from forkhang_ipy.errors import ProcessIsZombie
from forkhang_ipy.model import Verdict
from tests import live

ALL = [pytest.param(version, python, id=version) for version, python in live.INTERPRETERS]
NOT_HUNG = {Verdict.NOT_HUNG}
HELD_BY_SOMETHING_ELSE = {Verdict.NOT_FORK_DEADLOCK}
OPEN = {Verdict.INCONCLUSIVE}
LOOK_ALIKES = {
    "idle_pool.py": NOT_HUNG,
    "sleeping_worker.py": NOT_HUNG,
    "computing_worker.py": NOT_HUNG,
    "healthy_parent.py": NOT_HUNG,
    "nested_pools.py": NOT_HUNG,
    "slow_fork.py": NOT_HUNG,
    "thread_pool_idle.py": NOT_HUNG,
    "asyncio_idle.py": NOT_HUNG,
    # Its parent joins it without having told it to end: hung, but healthy.
    "spawn_queue.py": HELD_BY_SOMETHING_ELSE,
    "full_pipe.py": HELD_BY_SOMETHING_ELSE,
    "feeder_joined_at_exit.py": HELD_BY_SOMETHING_ELSE,
    "crossed_locks.py": HELD_BY_SOMETHING_ELSE,
    "semlock_holder_killed.py": HELD_BY_SOMETHING_ELSE,
    "killed_worker.py": HELD_BY_SOMETHING_ELSE,
    "native_gil.py": HELD_BY_SOMETHING_ELSE,
    "signal_in_logging.py": HELD_BY_SOMETHING_ELSE,
    "stopped.py": HELD_BY_SOMETHING_ELSE,
    # The dying children may all fall between two looks.
    "spawn_from_main.py initializer": HELD_BY_SOMETHING_ELSE | OPEN | NOT_HUNG,
    "spawn_from_main.py job": HELD_BY_SOMETHING_ELSE | OPEN | NOT_HUNG,
    "zombie_child.py sleep": HELD_BY_SOMETHING_ELSE | NOT_HUNG,
    "zombie_child.py queue": HELD_BY_SOMETHING_ELSE | OPEN,
    # In a forked process an inherited lock would look the same: the owners would have to be known.
    "crossed_locks_in_child.py": HELD_BY_SOMETHING_ELSE | OPEN,
    "self_deadlock_in_child.py": HELD_BY_SOMETHING_ELSE | OPEN,
    # What the child did by itself looks like an inherited lock, and cannot always be told apart.
    **{f"own_doing.py {what}": OPEN for what in ("twice", "parent-too", "ended", "after-fork", "retry")},
    **{f"own_doing.py {what}": OPEN | NOT_HUNG for what in ("limit", "queue", "signal")},
    # By design or by mistake: nothing shows who should wake them.
    "event_forever.py": OPEN,
    "event_in_child.py": OPEN,
    "simple_queue_child.py": OPEN | NOT_HUNG,
}


CHILD_ALONE = {"killed_worker.py": NOT_HUNG, "spawn_from_main.py job": NOT_HUNG, "zombie_child.py queue": NOT_HUNG}


def verdict_of(pid: int, interval: float = 0.2) -> Optional[Verdict]:
    """The verdict, or None for a process that has ended and is not collected."""
    try:
        return api.diagnose(pid, options=Options(interval=interval)).verdict
    except ProcessIsZombie:
        return None


@pytest.mark.parametrize("program", sorted(LOOK_ALIKES))
@pytest.mark.parametrize(("version", "python"), ALL)
def test_a_look_alike_is_called_what_it_is(program: str, version: str, python: str) -> None:
    name, *arguments = program.split()
    with live.hanging(name, python, *arguments) as hang:
        from_parent = verdict_of(hang.parent)
        from_child = verdict_of(hang.child or hang.parent)
    assert from_parent in LOOK_ALIKES[program], version
    # The child alone may be well, where what is wrong lies between several; one that is gone has no verdict.
    assert from_child in LOOK_ALIKES[program] | CHILD_ALONE.get(program, OPEN) | {None}


@live.once
@pytest.mark.parametrize("program", sorted(LOOK_ALIKES))
def test_a_look_alike_is_no_fork_deadlock_at_any_of_twenty_moments(program: str) -> None:
    chance = random.Random(program)
    name, *arguments = program.split()
    verdicts = []
    with live.hanging(name, sys.executable, *arguments) as hang:
        for moment in range(20):
            time.sleep(chance.random() * 0.05)
            pid = hang.child if moment % 2 and hang.child else hang.parent
            verdicts.append(verdict_of(pid, chance.choice((0.01, 0.05, 0.1))))
    assert Verdict.FORK_DEADLOCK not in verdicts

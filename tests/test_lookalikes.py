"""Live: what looks like a fork deadlock and is none is never called one."""

from __future__ import annotations

import pytest

from forkhang_ipy import api
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
    "spawn_queue.py": NOT_HUNG,
    "full_pipe.py": HELD_BY_SOMETHING_ELSE,
    "crossed_locks.py": HELD_BY_SOMETHING_ELSE,
    # In a forked process an inherited lock would look the same: the owners would have to be known.
    "crossed_locks_in_child.py": HELD_BY_SOMETHING_ELSE | OPEN,
    # By design or by mistake: nothing shows who should set the event.
    "event_forever.py": OPEN,
}


@pytest.mark.parametrize("program", sorted(LOOK_ALIKES))
@pytest.mark.parametrize(("version", "python"), ALL)
def test_a_look_alike_is_called_what_it_is(program: str, version: str, python: str) -> None:
    with live.hanging(program, python) as hang:
        verdicts = {api.diagnose(pid).verdict for pid in {hang.parent, hang.child or hang.parent}}
    assert verdicts <= LOOK_ALIKES[program], version

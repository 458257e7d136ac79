"""Live: whatever of a family ends while it is looked at, there is an answer or a gap, and nobody is left stopped."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Dict, List, Set

import psutil
import pytest

from forkhang_ipy import api
from forkhang_ipy.capture.records import Options
from forkhang_ipy.errors import TargetError
from forkhang_ipy.views.words import SIGN
from tests import live

TIMES = 200
PROGRAMS = ("idle_pool.py", "threading_lock.py", "tree.py", "nested_pools.py")


def family(pid: int) -> List[int]:
    root = psutil.Process(pid)
    return [pid, *(child.pid for child in root.children(recursive=True))]


def kill_later(pid: int, seconds: float) -> threading.Thread:
    def kill() -> None:
        time.sleep(seconds)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # it ended by itself: as good as killed

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def seconds_of_a_look(program: str) -> float:
    """How long it takes, so that the kills fall on all of it."""
    with live.hanging(program, sys.executable) as hang:
        begins = time.monotonic()
        api.diagnose(hang.pid, options=Options(interval=0.02))
        return time.monotonic() - begins


def answer_or_error(pid: int, victim: int) -> bool:
    """Whether there was an answer that a user can read; or, of the target alone, an error that says it is gone."""
    try:
        report = api.diagnose(pid, options=Options(interval=0.02))
    except TargetError as error:
        return pid == victim and str(pid) in error.fact
    told = report.to_text()
    gone = any(gap.process == victim for gap in report.dump.gaps)
    seen = report.dump.process(victim)
    return told.startswith(tuple(SIGN.values())) and (gone or seen is not None or victim != pid)


def stopped(pids: List[int]) -> Set[int]:
    """Those which are stopped or traced, though nobody stopped them."""
    found = set()
    for pid in pids:
        try:
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        except (FileNotFoundError, ProcessLookupError):
            continue
        fields: Dict[str, str] = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        if fields["State"][0] in "Tt" or fields["TracerPid"] != "0":
            found.add(pid)
    return found


@live.once
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_process_killed_at_a_random_moment_is_an_answer_or_a_clear_error(program: str) -> None:
    chance = random.Random(program)
    whole = seconds_of_a_look(program)
    for _ in range(TIMES // len(PROGRAMS)):
        with live.hanging(program, sys.executable) as hang:
            pids = family(hang.pid)
            victim = chance.choice(pids)
            killer = kill_later(victim, chance.random() * whole)
            told = answer_or_error(hang.pid, victim)
            killer.join()
            assert told
            assert stopped(pids) == set()

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Callable, Tuple

import pytest

from forkhang_ipy.capture import permissions

if TYPE_CHECKING:
    from pathlib import Path

Start = Callable[..., Tuple[int, ...]]

AS_NOBODY = """
import os, sys, json
from forkhang_ipy.capture.records import Options, records
os.setgid(65534), os.setuid(65534)
print(json.dumps(records(int(sys.argv[1]), Options(samples=1))))
"""


def proc(root: Path, *, scope: int, capabilities: int, parents: Tuple[Tuple[int, int], ...]) -> Path:
    yama = root / "sys" / "kernel" / "yama"
    yama.mkdir(parents=True)
    (yama / "ptrace_scope").write_text(f"{scope}\n")
    (root / "self").mkdir()
    (root / "self" / "status").write_text(f"CapEff:\t{capabilities:016x}\n")
    for pid, parent in parents:
        (root / str(pid)).mkdir()
        (root / str(pid) / "stat").write_text(f"{pid} (python) S {parent} " + "0 " * 48)
    return root


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_another_users_process_is_refused_with_the_reason_and_the_way_out(start: Start, lock_held_at_fork: str) -> None:
    _, child = start(lock_held_at_fork)
    done = subprocess.run([sys.executable, "-c", AS_NOBODY, str(child)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        f"NotPermitted: Process {child} cannot be looked into: it belongs to user 0 and we are user 65534. "
        f"Run it as root: sudo $(command -v forkhang) {child}"
    )


def test_what_we_started_may_be_looked_at_from_here_alone_under_yama(tmp_path: Path) -> None:
    family = ((os.getpid(), 1), (70, os.getpid()), (71, 70), (80, 1))
    root = proc(tmp_path, scope=1, capabilities=0, parents=family)
    assert [permissions.only_from_here(pid, root) for pid in (70, 71, 80)] == [True, True, False]


@pytest.mark.parametrize(("scope", "capabilities"), [(0, 0), (1, 1 << 19), (2, 0)])
def test_otherwise_a_program_of_ours_may_look_as_well_or_nobody(tmp_path: Path, scope: int, capabilities: int) -> None:
    root = proc(tmp_path, scope=scope, capabilities=capabilities, parents=((os.getpid(), 1), (70, os.getpid())))
    assert not permissions.only_from_here(70, root)


def test_a_process_in_uninterruptible_sleep_is_never_attached_to(tmp_path: Path) -> None:
    for tid, letter in ((7, "S"), (8, "D")):
        task = tmp_path / "7" / "task" / str(tid)
        task.mkdir(parents=True)
        (task / "stat").write_text(f"{tid} (python) {letter} 1 " + "0 " * 48)
    obstacle = permissions.obstacle(7, tmp_path)
    assert obstacle is not None
    assert obstacle.why == "in uninterruptible sleep (D): a debugger would hang with it"

"""Of a family only those are attached to that can be part of the hang, and never our own ancestors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Dict, Optional, Tuple, cast

from forkhang_ipy.capture import tree
from forkhang_ipy.capture.attachable import choose
from forkhang_ipy.capture.procfs import ProcRecord

STAT = "{pid} (x) S {parent} 7 7 0 -1 4194304 99 0 0 0 30 12 0 0 20 0 1 0 555" + " 1" * 30
PYTHON, OTHER = "3.11.7", None
LOOKING_AT_AN_ANCESTOR = """
import json, os, subprocess, sys
target = os.getpid()
between = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', sys.argv[1], sys.argv[2]]))"
looking = '''
import json, sys
from forkhang_ipy.capture.records import Options, records
texts = [json.loads(text) for text in records(int(sys.argv[1]), Options(samples=1))]
stacks = [text["pid"] for text in texts if isinstance(text, dict) and text["forkhang"] == "stacks/1"]
print(json.dumps([stacks, texts[-1]["gaps"]]))
'''
neighbour = subprocess.Popen(["/bin/sleep", "600"])
shell = subprocess.Popen(["/bin/sh", "-c", "sleep 600; true"], start_new_session=True)
try:
    found = json.loads(subprocess.check_output([sys.executable, "-c", between, looking, str(target)]))
finally:
    neighbour.kill()
    os.killpg(shell.pid, 9)
print(json.dumps({"target": target, "neighbour": neighbour.pid, "shell": shell.pid, "found": found}))
"""


def family(
    root: Path, target: int, processes: Dict[int, Tuple[int, Optional[str]]], forked: Tuple[int, ...] = ()
) -> Tuple[tree.Family, Dict[int, ProcRecord]]:
    """A false /proc: for each pid its parent and its version of Python; those in `forked` are laid out alike."""
    for pid, (parent, _) in processes.items():
        (root / str(pid)).mkdir()
        (root / str(pid) / "stat").write_text(STAT.format(pid=pid, parent=parent))
    looks = {
        pid: cast(
            "ProcRecord",
            {
                "pid": pid,
                "parent": parent,
                "state": "S",
                "python": python,
                "layout": [hex(0 if pid in forked else pid)],
            },
        )
        for pid, (parent, python) in processes.items()
    }
    return tree.family(target, root), looks


def chosen(root: Path, target: int, processes: Dict[int, Tuple[int, Optional[str]]]) -> Tuple[int, ...]:
    return choose(*family(root, target, processes), root)[0]


def test_of_a_python_program_the_children_are_attached_to_whatever_they_are(tmp_path: Path) -> None:
    tree_of_it = {10: (1, OTHER), 20: (10, PYTHON), 21: (20, PYTHON), 22: (20, OTHER), 23: (22, OTHER)}
    assert chosen(tmp_path, 20, tree_of_it) == (20, 21, 22)


def test_of_a_shell_only_the_python_programs_below_are_attached_to(tmp_path: Path) -> None:
    tree_of_it = {10: (1, OTHER), 20: (10, OTHER), 21: (10, PYTHON), 22: (20, PYTHON), 23: (22, OTHER), 24: (23, OTHER)}
    assert chosen(tmp_path, 10, tree_of_it) == (10, 21, 22, 23)


def test_a_parent_that_is_no_python_is_left_alone(tmp_path: Path) -> None:
    assert chosen(tmp_path, 20, {10: (1, OTHER), 20: (10, PYTHON)}) == (20,)


def test_a_parent_that_is_python_is_attached_to(tmp_path: Path) -> None:
    assert chosen(tmp_path, 20, {10: (1, PYTHON), 20: (10, PYTHON)}) == (10, 20)


def test_our_own_ancestors_are_left_alone_and_the_gap_says_so(tmp_path: Path) -> None:
    us = os.getpid()
    seen = family(tmp_path, 10, {10: (1, PYTHON), 20: (10, PYTHON), 21: (10, PYTHON), us: (20, PYTHON)})
    pids, gaps = choose(*seen, tmp_path)
    assert pids == (10, 21)
    assert [(gap.process, gap.why.partition(" as ")[0]) for gap in gaps] == [(20, "it waits for us to end,")]


def test_the_parent_that_the_target_was_forked_from_is_looked_at_even_if_it_waits_for_us(tmp_path: Path) -> None:
    seen = family(tmp_path, 20, {10: (1, PYTHON), 20: (10, PYTHON), os.getpid(): (10, PYTHON)}, forked=(10, 20))
    pids, gaps = choose(*seen, tmp_path)
    assert (sorted(pids), gaps) == ([10, 20], ())


def test_a_parent_of_the_target_that_waits_for_us_too_is_left_alone(tmp_path: Path) -> None:
    seen = family(tmp_path, 20, {10: (1, PYTHON), 20: (10, PYTHON), os.getpid(): (10, PYTHON)})
    pids, gaps = choose(*seen, tmp_path)
    assert pids == (20,)
    assert [gap.process for gap in gaps] == [10]


def test_an_ancestor_as_target_is_looked_at_and_what_is_between_is_not() -> None:
    answer = subprocess.check_output([sys.executable, "-c", LOOKING_AT_AN_ANCESTOR], text=True)
    told = json.loads(answer)
    stacks, gaps = told["found"]
    # The two children are a Python program's own: they may be forks that have not exec'd.
    assert set(stacks) <= {os.getpid(), told["target"], told["neighbour"], told["shell"]}
    assert told["target"] in stacks
    assert os.getpid() not in stacks
    assert len([gap for gap in gaps if gap["why"].startswith("it waits for us")]) == 2

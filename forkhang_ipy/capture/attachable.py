"""A family in, out: which of its processes a debugger may stop for a moment, and a gap for each that is not touched.

The rule: the target itself; Python processes of its family; and what a Python process of it started directly, since
that may be a child that has not exec'd yet. Of a shell, a notebook server or the system's first process as target,
the editors and daemons below are so left alone. Never we ourselves, nor our own ancestors: a terminal, a notebook or
a program that waits for us is no part of the hang. The target may be one of these, and the parent that the target was
forked from: it holds the other half of the truth, also where it is the notebook that started us.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, List, Mapping, Optional, Tuple

from forkhang_ipy.capture import permissions, proc_files, tree
from forkhang_ipy.capture.permissions import Obstacle
from forkhang_ipy.model import Gap

if TYPE_CHECKING:
    from pathlib import Path

    from forkhang_ipy.capture.procfs import ProcRecord
    from forkhang_ipy.capture.tree import Family

_ALL_STACKS = "python and native stacks, system calls, memory"
_STACKS = "python and native stacks"
_ANCESTOR = Obstacle(
    "it waits for us to end, as one of our own ancestors: we do not stop it", "Ask from another terminal or notebook."
)


def choose(
    family: Family, looks: Mapping[int, ProcRecord], root: Path = proc_files.PROC
) -> Tuple[Tuple[int, ...], Tuple[Gap, ...]]:
    """The pids to attach to, and the gaps of those which are wanted too and must not, or cannot, be attached to."""
    pids: List[int] = []
    gaps: List[Gap] = []
    ancestors = frozenset(tree.ancestors(os.getpid(), root)) - {family.target, _forked_from(family, looks)}
    for pid in family.pids:
        if not _is_wanted(pid, family, looks, root):
            continue
        obstacle = permissions.obstacle(pid, root)
        if obstacle:
            gaps.append(Gap(pid, _ALL_STACKS, obstacle.why, obstacle.hint))
        elif pid in ancestors:
            gaps.append(Gap(pid, _STACKS, _ANCESTOR.why, _ANCESTOR.hint))
        else:
            pids.append(pid)
    return tuple(pids), tuple(gaps)


def _forked_from(family: Family, looks: Mapping[int, ProcRecord]) -> Optional[int]:
    """The parent, if the target has its memory laid out like the parent's: exec would have drawn it anew."""
    target, parent = looks.get(family.target), looks.get(family.parent or 0)
    same = target and parent and target["layout"] and target["layout"] == parent["layout"]
    return family.parent if same else None


def _is_wanted(pid: int, family: Family, looks: Mapping[int, ProcRecord], root: Path) -> bool:
    look = looks.get(pid)
    if not look or look["state"] == "Z" or pid == os.getpid():
        return False
    return pid == family.target or _may_be_python(pid, look, root) or _is_python(looks.get(look["parent"]))


def _may_be_python(pid: int, look: ProcRecord, root: Path) -> bool:
    """Whether it is, or whether we only cannot tell, because we may not look; the system's first process is none."""
    return _is_python(look) or (pid != 1 and permissions.refusal(pid, root) is not None)


def _is_python(look: Optional[ProcRecord]) -> bool:
    return look is not None and look["python"] is not None

"""A pid in, its family out: the parent and all descendants. Processes are listed, not looked into."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

from forkhang_ipy.capture import proc_files

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Family:
    """The target and its next of kin, by pid."""

    target: int
    parent: Optional[int]
    """None where it has none, or where the parent is in another pid namespace."""
    descendants: Tuple[int, ...] = ()
    """Nearest first. We ourselves and what we started are not among them."""

    @property
    def pids(self) -> Tuple[int, ...]:
        """The parent, the target, the descendants."""
        return (*((self.parent,) if self.parent else ()), self.target, *self.descendants)


def family(target: int, root: Path = proc_files.PROC) -> Family:
    """The family of this process as /proc lists it now."""
    parents = _parents(root)
    children: Dict[int, List[int]] = defaultdict(list)
    for pid, parent in parents.items():
        children[parent].append(pid)
    descendants: List[int] = []
    front = [target]
    while front:
        front = [child for pid in front for child in children[pid] if child != os.getpid()]
        descendants += front
    return Family(target, parents.get(target) or None, tuple(descendants))


def ancestors(pid: int, root: Path = proc_files.PROC) -> Tuple[int, ...]:
    """Parent, parent's parent and so on."""
    parents = _parents(root)
    found: List[int] = []
    while parents.get(pid) and parents[pid] not in found:
        pid = parents[pid]
        found.append(pid)
    return tuple(found)


def descends(pid: int, ancestor: int, root: Path = proc_files.PROC) -> bool:
    """Whether the ancestor's forks and forks of forks led to this process."""
    return pid == ancestor or ancestor in ancestors(pid, root)


def _parents(root: Path) -> Dict[int, int]:
    looks = ((pid, proc_files.stat(root / str(pid))) for pid in proc_files.numbered(root))
    return {pid: look.parent for pid, look in looks if look}

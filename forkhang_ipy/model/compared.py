"""What many stacks have in common, and how two dumps of one hang differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Iterator, List, Optional, Tuple

from forkhang_ipy.model.seen import Frame, Process, Thread


@dataclass(frozen=True)
class Group:
    """Threads that have the same stack."""

    stack: Tuple[Frame, ...]
    """Innermost first."""
    role: str
    """What kind of thread it is: `MainThread`, or the name without its numbers."""
    threads: Tuple[Tuple[int, int], ...]
    """Place of the process in `Dump.processes`, and of the thread in its threads."""
    processes: int
    ranks: Optional[str]
    """`0-2,5`; None where no process has a rank."""
    pids: Optional[str]
    odd: bool
    """Less than half as many processes as the largest group of the same role: the odd ones out."""

    @property
    def count(self) -> int:
        """How many threads."""
        return len(self.threads)


@dataclass(frozen=True)
class Branch:
    """Calls that some threads have in common, and how these go on."""

    frames: Tuple[Frame, ...]
    """Outermost first; empty at the root, where the threads have nothing in common."""
    count: int
    """How many threads."""
    processes: int
    ranks: Optional[str]
    """`0-2,5`; None where no process has a rank."""
    branches: Tuple[Branch, ...] = field(default=(), repr=False)
    """The largest first; threads that end here are in none of them."""

    def walk(self) -> Iterator[Tuple[int, Branch]]:
        """Every branch with its depth, this one first, each before its own branches."""
        left: List[Tuple[int, Branch]] = [(0, self)]
        while left:
            depth, branch = left.pop()
            yield depth, branch
            left.extend((depth + 1, one) for one in reversed(branch.branches))


class Moved(Enum):
    """What became of a thread."""

    SAME = "same"
    MOVED = "moved"
    GONE = "gone"
    NEW = "new"


@dataclass(frozen=True)
class Change:
    """One thread in both dumps."""

    moved: Moved
    process: Process
    thread: Thread
    depth: Optional[int] = None
    """How many outermost calls are the same, where it moved."""
    before: Optional[Frame] = None
    """The first call, from the outermost on, that is another; None where the stack ended there."""
    after: Optional[Frame] = None

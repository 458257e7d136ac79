"""What it means: findings with their evidence, the chain of waits and the remedies, in one `Diagnosis`.

Unknown is None and never means "no".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Dict, FrozenSet, List, Optional, Tuple

from forkhang_ipy.model.seen import Dump, Thread


class Verdict(Enum):
    """The answer, in the word of the command line's contract."""

    FORK_DEADLOCK = "fork-deadlock"
    FORK_ERROR = "fork-error"
    NOT_FORK_DEADLOCK = "not-fork-deadlock"
    INCONCLUSIVE = "inconclusive"
    NOT_HUNG = "not-hung"


class Confidence(Enum):
    """How sure; `proven` means that the wait can be shown never to end."""

    PROVEN = "proven"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Who(Enum):
    """Which end of a fork a finding is about."""

    CHILD = "child"
    PARENT = "parent"
    NONE = "none"


class Column(Enum):
    """Which of the two stacks a frame stands in."""

    PYTHON = "python"
    NATIVE = "native"


class InParent(Enum):
    """What the parent's original of an inherited lock says now."""

    HELD = "still held there"
    RELEASED = "released since"
    ABSENT = "no such lock there"


@dataclass(frozen=True)
class FrameAt:
    """A frame by its place: which column of the thread, and how far from the innermost (0)."""

    column: Column
    index: int


@dataclass(frozen=True)
class Owner:
    """Who holds a lock, and where."""

    process: Optional[int]
    thread: Optional[str]
    function: Optional[str] = None
    file: Optional[str] = None
    line: Optional[int] = None


@dataclass(frozen=True)
class Lock:
    """What a thread waits for, and who has it."""

    kind: str
    """The field's name: `pthread-mutex`, `threading.Lock`, `HEAD_LOCK`."""
    address: Optional[int] = None
    owner_tid: Optional[int] = None
    owner_ident: Optional[int] = None
    owner: Optional[Owner] = None
    owner_gone: Optional[bool] = None
    """True: the owner is no live thread of the process that waits."""
    in_parent: Optional[InParent] = None
    variable: Optional[str] = None
    """What the program calls it, or the module that is imported under it."""
    candidates: Tuple[Owner, ...] = ()
    """Where no owner is recorded: threads of the parent that are in the same code, and so may hold it."""


@dataclass(frozen=True)
class Evidence:
    """One sentence of proof, and the frames that carry it."""

    sentence: str
    frames: Tuple[FrameAt, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One thing wrong, or one look-alike recognised."""

    signature: str
    title: str
    verdict: Verdict
    confidence: Confidence
    who: Who
    process: Optional[int]
    thread: Thread
    frames: Tuple[FrameAt, ...] = ()
    """The decisive frames."""
    fork_site: Tuple[FrameAt, ...] = ()
    """The frames that forked: the library's, then the user's own."""
    lock: Optional[Lock] = None
    evidence: Tuple[Evidence, ...] = ()
    remedies: Tuple[str, ...] = ()
    bug: Optional[str] = None
    """CPython's bug that it is, by its id in the table."""


@dataclass(frozen=True)
class Link:
    """One step of the chain of waits: who waits, for what, and where."""

    process: Optional[int]
    thread: Optional[str]
    tid: Optional[int]
    says: str
    """The rest of the sentence that begins with process and thread: `waits for its child 1718 to end (train.py:10)`."""
    waits_for: Optional[int]
    """The pid of the next link; None at the root."""
    gone: bool = False
    """It is no thread of this dump: fork did not copy it."""


@dataclass(frozen=True)
class Remedy:
    """What to do about it."""

    id: str
    title: str
    detail: str
    code: Optional[str] = None


@dataclass(frozen=True)
class Diagnosis:
    """The answer."""

    verdict: Verdict
    confidence: Confidence
    summary: str
    findings: Tuple[Finding, ...]
    chain: Tuple[Link, ...]
    """From the process that the user asked about to the root."""
    stuck: Tuple[Tuple[Optional[int], Optional[int]], ...]
    """(pid, TID) of each thread that can never go on."""
    remedies: Tuple[Remedy, ...]
    dump: Dump
    decide: Optional[str] = None
    """Where it is open or only likely: the one piece of evidence that would decide, and the command that gets it."""

    def findings_of(self, pid: Optional[int], thread: Thread) -> Tuple[Finding, ...]:
        """The findings about this thread of this process."""
        near = self._of_thread.get((pid, thread.tid, thread.ident, thread.name), ())
        return tuple(finding for finding in near if finding.thread == thread)

    def is_stuck(self, pid: Optional[int], tid: Optional[int]) -> bool:
        """Whether this thread can never go on."""
        return (pid, tid) in self._nodes

    @cached_property
    def _of_thread(self) -> Dict[Tuple[object, ...], List[Finding]]:
        found: Dict[Tuple[object, ...], List[Finding]] = {}
        for finding in self.findings:
            thread = finding.thread
            found.setdefault((finding.process, thread.tid, thread.ident, thread.name), []).append(finding)
        return found

    @cached_property
    def _nodes(self) -> FrozenSet[Tuple[Optional[int], Optional[int]]]:
        return frozenset(self.stuck)

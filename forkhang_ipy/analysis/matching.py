"""Which signature a thread shows, and which facts hold for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import FrozenSet, Iterator, Optional, Tuple

from forkhang_ipy.analysis import graph
from forkhang_ipy.analysis.frames import is_plumbing, is_users_own, matches
from forkhang_ipy.analysis.locks import lock_of
from forkhang_ipy.analysis.progress import Progress, progress
from forkhang_ipy.knowledge.forks import FORKED, IN_FORK
from forkhang_ipy.knowledge.signatures import SIGNATURES, Fact, Signature
from forkhang_ipy.knowledge.signatures._base import Calls
from forkhang_ipy.model import (
    Column,
    Confidence,
    Dump,
    Frame,
    FrameAt,
    InParent,
    Lock,
    Process,
    Thread,
    Verdict,
    WaitKind,
)


@dataclass(frozen=True)
class Place:
    """A thread among all that was seen."""

    thread: Thread
    process: Process
    parent: Optional[Process]
    dump: Dump
    stuck: FrozenSet[graph.Node]

    @property
    def lock(self) -> Optional[Lock]:
        """The lock that the thread waits for."""
        return lock_of(self.thread, self.process, self.parent)


@dataclass(frozen=True)
class Match:
    """A signature that a thread shows."""

    signature: Signature
    facts: FrozenSet[Fact]
    confidence: Confidence
    frames: Tuple[FrameAt, ...]


def match(place: Place) -> Optional[Match]:
    """The first signature whose stack and whose facts this thread shows, or None."""
    facts = frozenset(_facts(place))
    moving = progress(place.thread) is Progress.MOVING
    for signature in SIGNATURES:
        if moving and signature.verdict is not Verdict.NOT_HUNG:
            continue
        frames = _frames(signature, place.thread)
        if frames is not None and (not signature.needs or any(needed <= facts for needed in signature.needs)):
            proven = any(proof <= facts for proof in signature.proof)
            confidence = Confidence.PROVEN if proven else Confidence.LIKELY
            return Match(signature, facts, confidence, frames)
    return None


def fork_site(thread: Thread) -> Tuple[FrameAt, ...]:
    """The library's frame that forked, and the user's own line above it, as far as they are on the stack."""
    forking = [index for index, frame in enumerate(thread.python) if any(matches(call, frame) for call in FORKED)]
    if not forking and any(matches(IN_FORK, frame) for frame in thread.native):
        forking = [0] if thread.python else []
    if not forking:
        return ()
    outer = range(forking[-1], len(thread.python))
    users = next((index for index in outer if is_users_own(thread.python[index])), None)
    sites = dict.fromkeys([forking[-1], *([users] if users is not None else [])])
    return tuple(FrameAt(Column.PYTHON, index) for index in sites)


# --- stacks ----------------------------------------------------------------------------------------------------------


def _frames(signature: Signature, thread: Thread) -> Optional[Tuple[FrameAt, ...]]:
    """The decisive frames, or None where the thread does not show the signature."""
    if signature.waits and (thread.wait is None or thread.wait.kind not in signature.waits):
        return None
    if any(matches(call, frame) for call in signature.never for frame in thread.python + thread.native):
        return None
    if not signature.native and not signature.python:
        return _innermost(thread)
    for calls in signature.native:
        found = _sequence(calls, thread.native, _waiting(thread.native))
        if found:
            return tuple(FrameAt(Column.NATIVE, index) for index in found)
    for calls in signature.python:
        found = _sequence(calls, thread.python, 1)
        if found:
            return tuple(FrameAt(Column.PYTHON, index) for index in found)
    return None


def _innermost(thread: Thread) -> Tuple[FrameAt, ...]:
    """Where the wait was entered, in each column: the outermost frame that only waits, and who called it."""
    caller = next((index for index, frame in enumerate(thread.native) if not is_plumbing(frame)), len(thread.native))
    entered = [index for index in (caller - 1, caller) if 0 <= index < len(thread.native)]
    named = [index for index in entered if thread.native[index].function] or entered[-1:]
    python = (FrameAt(Column.PYTHON, 0),) if thread.python else ()
    return (*(FrameAt(Column.NATIVE, index) for index in named), *python)


def _waiting(frames: Tuple[Frame, ...]) -> int:
    """How many innermost frames the first frame of a sequence may be among: those that wait, and one more."""
    return next((index for index, frame in enumerate(frames) if not is_plumbing(frame)), len(frames)) + 1


def _sequence(calls: Calls, frames: Tuple[Frame, ...], first_within: int) -> Tuple[int, ...]:
    """Where these calls stand, in this order, the first among the innermost `first_within`; () if they do not."""
    found = []
    index = 0
    for position, call in enumerate(calls):
        end = first_within if position == 0 else len(frames)
        index = next((at for at in range(index, min(end, len(frames))) if matches(call, frames[at])), -1)
        if index < 0:
            return ()
        found.append(index)
        index += 1
    return tuple(found)


# --- facts -----------------------------------------------------------------------------------------------------------


def _facts(place: Place) -> Iterator[Fact]:
    process, parent = place.process, place.parent
    if process.forked is not None:
        yield Fact.FORKED if process.forked else Fact.STARTED_ANEW
    if process.tasks is not None and len(process.tasks) == 1:
        yield Fact.ALONE
    if graph.node(process, place.thread) in place.stuck:
        yield Fact.FOR_EVER
    if progress(place.thread) is Progress.STILL:
        yield Fact.STILL
    if progress(place.thread) is Progress.SPINNING:
        yield Fact.SPINNING
    if parent is not None and len(parent.tasks or ()) > len(process.tasks or ()):
        yield Fact.PARENT_HAS_MORE
    locked = _locked(process)
    if place.thread in locked and len({thread.wait.address for thread in locked if thread.wait}) > 1:
        yield Fact.SEVERAL_LOCKED
    if _waits_for_unseen_child(place):
        yield Fact.CHILD_UNSEEN
    yield from _lock_facts(place.lock)


def _lock_facts(lock: Optional[Lock]) -> Iterator[Fact]:
    if lock is not None and lock.owner_gone:
        yield Fact.OWNER_GONE
    if lock is not None and lock.in_parent is InParent.HELD:
        yield Fact.HELD_IN_PARENT


def _locked(process: Process) -> Tuple[Thread, ...]:
    """The threads that stand in a lock of Python's; a parked thread of a native pool looks the same to the kernel."""
    return tuple(
        thread
        for thread in graph.live(process)
        if thread.python and thread.wait is not None and thread.wait.kind is WaitKind.LOCK
    )


def _waits_for_unseen_child(place: Place) -> bool:
    wait = place.thread.wait
    if wait is None or wait.kind is not WaitKind.CHILD:
        return False
    children = [child for child in place.dump.processes if child.parent == place.process.pid]
    return not any(wait.target in (None, child.pid) for child in children)

"""Which signature a thread shows: first its stack, then its facts, and from these how sure that is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, FrozenSet, Iterable, Optional, Sequence, Set, Tuple

from forkhang_ipy.analysis import graph
from forkhang_ipy.analysis.facts import Place, facts
from forkhang_ipy.analysis.frames import is_plumbing, is_users_own, matches
from forkhang_ipy.analysis.progress import Progress, progress
from forkhang_ipy.knowledge.calls import Calls
from forkhang_ipy.knowledge.forks import FORKED, IN_FORK
from forkhang_ipy.knowledge.signatures import SIGNATURES, Fact, Signature
from forkhang_ipy.model import Column, Confidence, Dump, Frame, FrameAt, Thread, Verdict

ENDS_WELL = (Verdict.NOT_HUNG,)
Frames = Tuple[FrameAt, ...]


@dataclass(frozen=True)
class Match:
    """A signature that a thread shows."""

    signature: Signature
    facts: FrozenSet[Fact]
    confidence: Confidence
    frames: Frames


def match(place: Place) -> Optional[Match]:
    """The first signature that this thread proves or shows; else the first that it may be; else None."""
    known = facts(place)
    moving = progress(place.thread) is Progress.MOVING
    shown = [
        Match(signature, frozenset(fact for fact, holds in known.items() if holds), confidence, frames)
        for signature in SIGNATURES
        if not moving or signature.verdict in ENDS_WELL or not signature.still
        for frames in _frames(signature, place)
        for confidence in _confidence(signature, known)
    ]
    claimed = (found for found in shown if found.confidence is not Confidence.POSSIBLE)
    return next(claimed, None) or next(iter(shown), None)


def says_something(dump: Dump) -> bool:
    """Whether a line of log in a text without stacks is one that a signature knows."""
    patterns = [pattern for signature in SIGNATURES for pattern in signature.says]
    return any(re.search(pattern, line) for pattern in patterns for line in dump.unread)


def fork_site(thread: Thread) -> Frames:
    """The library's frame that forked, and the user's own line above it, as far as they are on the stack."""
    forking = [index for index, frame in enumerate(thread.python) if any(matches(call, frame) for call in FORKED)]
    if not forking and any(matches(IN_FORK, frame) for frame in thread.native):
        forking = [0] if thread.python else []
    if not forking:
        return ()
    # Forks further out made the parents.
    outer = range(forking[0], len(thread.python))
    users = next((index for index in outer if is_users_own(thread.python[index])), None)
    sites = dict.fromkeys([forking[0], *([users] if users is not None else [])])
    return tuple(FrameAt(Column.PYTHON, index) for index in sites)


# --- facts -----------------------------------------------------------------------------------------------------------


def _confidence(signature: Signature, known: Dict[Fact, bool]) -> Iterable[Confidence]:
    """How sure these facts make it; nothing where they rule it out."""
    true = {fact for fact, holds in known.items() if holds}
    false = set(known) - true
    if signature.unless & true or (signature.unless_not | _never_without(signature)) & false:
        return ()
    claims = _claims(signature, true, false)
    # A parent that was not seen leaves it open who held the lock.
    doubt = _is_copied_lock(signature) and Fact.FORKED in true and Fact.HOLDER_LEFT_BEHIND not in true
    return (Confidence.POSSIBLE,) if claims and doubt else claims


def _claims(signature: Signature, true: Set[Fact], false: Set[Fact]) -> Tuple[Confidence, ...]:
    if any(proof <= true for proof in signature.proof):
        return (Confidence.PROVEN,)
    if not signature.needs or any(needed <= true for needed in signature.needs):
        return (Confidence.LIKELY,)
    by_stack = signature.native or signature.python or signature.anywhere
    return (Confidence.POSSIBLE,) if by_stack and any(not needed & false for needed in signature.needs) else ()


def _never_without(signature: Signature) -> FrozenSet[Fact]:
    """What must not be known to be false for any inherited lock: its holder is elsewhere, and the wait has no end."""
    if not _is_copied_lock(signature):
        return frozenset()
    endless = {Fact.FOR_EVER} if signature.still else set()
    return frozenset({Fact.HOLDER_LEFT_BEHIND, Fact.OWNER_GONE, *endless})


def _is_copied_lock(signature: Signature) -> bool:
    return signature.verdict is Verdict.FORK_DEADLOCK and signature.lock is not None and signature.inherited


# --- stacks ----------------------------------------------------------------------------------------------------------


def _frames(signature: Signature, place: Place) -> Tuple[Frames, ...]:
    """The decisive frames, once; nothing where the thread does not show the signature."""
    thread = place.thread
    patterns = signature.native or signature.python or signature.anywhere or signature.says
    if signature.waits and not (thread.wait.kind in signature.waits if thread.wait is not None else patterns):
        return ()
    if any(matches(call, frame) for call in signature.never for frame in thread.python + thread.native):
        return ()
    if not _company(signature, place) or not _wants_lock(signature, place):
        return ()
    if not (signature.native or signature.python or signature.anywhere or signature.says):
        return (_innermost(thread),)
    return tuple(found for found in (_by_stack(signature, thread), _by_words(signature, place)) if found is not None)[
        :1
    ]


def _by_stack(signature: Signature, thread: Thread) -> Optional[Frames]:
    native, python = thread.native, thread.python
    tries = (
        *((Column.NATIVE, calls, native, _waiting(native)) for calls in signature.native),
        *((Column.PYTHON, calls, python, 1) for calls in signature.python),
        *((Column.NATIVE, calls, native, len(native)) for calls in signature.anywhere),
        *((Column.PYTHON, calls, python, len(python)) for calls in signature.anywhere),
    )
    for column, calls, frames, first_within in tries:
        found = _sequence(calls, frames, first_within)
        if found:
            return tuple(FrameAt(column, index) for index in found)
    return None


def _by_words(signature: Signature, place: Place) -> Optional[Frames]:
    """An exception's line says more than its stack; a line of log stands for the only stack there is."""
    words = [place.thread.error or ""]
    if len(place.dump.processes) == 1 and place.thread == graph.main_thread(place.process):
        words += place.dump.unread
    said = any(re.search(pattern, line) for pattern in signature.says for line in words)
    return _innermost(place.thread) if said else None


def _wants_lock(signature: Signature, place: Place) -> bool:
    lock = place.lock if signature.lock_kinds else None
    return not signature.lock_kinds or (lock is not None and lock.kind in signature.lock_kinds)


def _company(signature: Signature, place: Place) -> bool:
    """Whether the other live threads of the process are as the signature wants them."""
    others = [thread for thread in graph.live(place.process) if thread != place.thread]
    if signature.no_thread_named and any(re.search(signature.no_thread_named, thread.name or "") for thread in others):
        return False
    return not signature.beside or any(
        _sequence(calls, column, len(column))
        for calls in signature.beside
        for thread in others
        for column in (thread.native, thread.python)
    )


def _innermost(thread: Thread) -> Frames:
    """Where the wait was entered, in each column: the outermost frame that only waits, and who called it."""
    caller = next((index for index, frame in enumerate(thread.native) if not is_plumbing(frame)), len(thread.native))
    entered = [index for index in (caller - 1, caller) if 0 <= index < len(thread.native)]
    named = [index for index in entered if thread.native[index].function] or entered[-1:]
    python = (FrameAt(Column.PYTHON, 0),) if thread.python else ()
    return (*(FrameAt(Column.NATIVE, index) for index in named), *python)


def _waiting(frames: Sequence[Frame]) -> int:
    """How many innermost frames the first frame of a sequence may be among: those that wait, and one more."""
    return next((index for index, frame in enumerate(frames) if not is_plumbing(frame)), len(frames)) + 1


def _sequence(calls: Calls, frames: Sequence[Frame], first_within: int) -> Tuple[int, ...]:
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

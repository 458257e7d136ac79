"""The proof of a finding, sentence by sentence, each with the frames that carry it."""

from __future__ import annotations

from typing import Iterator, Optional, Tuple

from forkhang_ipy.analysis.bugs import shown
from forkhang_ipy.analysis.facts import Place
from forkhang_ipy.analysis.frames import is_plumbing
from forkhang_ipy.analysis.graph import partners
from forkhang_ipy.analysis.matching import Match, fork_site
from forkhang_ipy.analysis.sentences import WAITS_FOR, at, holder, waiting
from forkhang_ipy.knowledge.cpython import Bug
from forkhang_ipy.knowledge.signatures import Fact
from forkhang_ipy.model import Column, Evidence, Frame, FrameAt, InParent, Lock, Thread, Verdict, Wait, WaitKind

IN_PARENT = {
    InParent.HELD: "The parent's original of the lock, at the same address, is held there now.",
    InParent.RELEASED: "The parent's original of the lock, at the same address, has been released there since.",
    InParent.ABSENT: "The parent has no such lock: it was made after the fork.",
}


def evidence(match: Match, place: Place) -> Iterator[Evidence]:
    """The proof, sentence by sentence, each with the frames that carry it."""
    process, thread = place.process, place.thread
    yield Evidence(match.signature.shows, match.frames)
    if thread.wait is not None:
        yield Evidence(_wait_sentence(match, thread.wait), _innermost(thread))
    if Fact.STILL in match.facts:
        yield Evidence("Looked at more than once, it shows the same wait; it has not run and used no cpu in between.")
    if Fact.SPINNING in match.facts:
        yield Evidence("Looked at more than once, it burns cpu in the same frames: a spin that nobody ends.")
    if process.forked_why and match.signature.verdict is Verdict.FORK_DEADLOCK:
        yield Evidence(process.forked_why, fork_site(thread))
    yield from _owner_evidence(place.lock, place)
    yield from _sharers_evidence(place)
    yield from _parent_evidence(place)
    yield from _bug_evidence(match.signature.bug, place)


def _wait_sentence(match: Match, wait: Wait) -> str:
    limit = {None: "", False: " without a timeout", True: " with a timeout"}[wait.timeout]
    where = " of its own address space" if wait.private else ""
    word = f" (futex word {wait.address:#x})" if wait.address is not None else ""
    what = {WaitKind.LOCK: f" for a lock{where}", WaitKind.NOTIFICATION: f" for a notification{where}"}
    told = f"{wait.told.value[0].upper()}{wait.told.value[1:]} says: it {_verb(wait)}{what.get(wait.kind, '')}{limit}"
    alone = ", and it is the only live thread of its process" if Fact.ALONE in match.facts else ""
    return f"{told}{word}{alone}."


def _verb(wait: Wait) -> str:
    return "waits" if wait.kind in (WaitKind.LOCK, WaitKind.NOTIFICATION) else WAITS_FOR[wait.kind]


def _innermost(thread: Thread) -> Tuple[FrameAt, ...]:
    waits = [index for index, frame in enumerate(thread.native[:1]) if is_plumbing(frame)]
    return tuple(FrameAt(Column.NATIVE, index) for index in waits)


def _owner_evidence(lock: Optional[Lock], place: Place) -> Iterator[Evidence]:
    if lock is None:
        return
    recorded = _recorded(lock)
    if recorded and lock.owner_gone and place.process.forked:
        who = f" It is {holder(place, 'a thread')}." if lock.owner else ""
        yield Evidence(f"The lock records its owner: {recorded}, which is no thread of {place.process.pid}.{who}")
    elif recorded and lock.owner is not None:
        where = at(Frame(lock.owner.function, lock.owner.file, lock.owner.line))
        yield Evidence(f'The lock records its owner: {recorded}, the live thread "{lock.owner.thread}"{where}.')
    for suspect in lock.candidates:
        where = at(Frame(suspect.function, suspect.file, suspect.line))
        yield Evidence(f'The lock records no owner; thread "{suspect.thread}" of {suspect.process} may hold it{where}.')
    if lock.in_parent is not None and place.process.forked:
        yield Evidence(IN_PARENT[lock.in_parent])


def _sharers_evidence(place: Place) -> Iterator[Evidence]:
    """Of a semaphore that processes share: who has it, and who else waits for it."""
    pids = partners(place.thread, place.process, place.dump)
    if pids is None or place.thread.wait is None or place.thread.wait.kind is not WaitKind.SEMAPHORE:
        return
    sharers = [place.dump.process(pid) for pid in pids]
    waiters = [one.pid for one in sharers if one is not None and any(_in_semaphore(thread) for thread in one.threads)]
    shared, waiting_too = (", ".join(map(str, sorted(filter(None, some)))) for some in (pids, waiters))
    yield Evidence(f"The semaphore is shared by {shared}; {waiting_too} wait for one of theirs.")


def _in_semaphore(thread: Thread) -> bool:
    return thread.wait is not None and thread.wait.kind is WaitKind.SEMAPHORE


def _recorded(lock: Lock) -> Optional[str]:
    if lock.owner_tid is not None:
        return f"TID {lock.owner_tid}"
    return f"pthread id {lock.owner_ident:#x}" if lock.owner_ident is not None else None


def _parent_evidence(place: Place) -> Iterator[Evidence]:
    for thread in place.parent.threads if place.parent else ():
        wait = thread.wait
        if wait is not None and wait.kind is WaitKind.CHILD and wait.target == place.process.pid and place.parent:
            yield Evidence(f"Its parent waits in turn: {waiting(wait, place.parent, thread)}.")


def _bug_evidence(bug: Optional[Bug], place: Place) -> Iterator[Evidence]:
    """The bug that the signature names, then any other that this version has and this stack shows."""
    version = place.process.python
    for known in (*((bug,) if bug else ()), *shown(place.thread, version)):
        affected = known.range_with(version) if version else None
        if affected is None or (known is bug and affected.fixed is None):
            continue
        what = "This is" if known is bug else f"{known.title}:"
        first = f"{affected.fixed} is the first {affected.branch} release without it"
        ends = first if affected.fixed else f"no {affected.branch} release is without it"
        instead = "" if known is bug else f" Until then: {known.workaround}."
        yield Evidence(f"{what} {known.reference}; {ends}.{instead}")

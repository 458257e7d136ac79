"""The English of a diagnosis: the summary, the proof and the chain, each a plain sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Optional, Tuple

from forkhang_ipy.analysis.frames import first_of_users, is_plumbing
from forkhang_ipy.analysis.matching import Match, Place, fork_site
from forkhang_ipy.knowledge.cpython import Bug
from forkhang_ipy.knowledge.signatures import Fact
from forkhang_ipy.knowledge.signatures.native import INHERITED_LOCK
from forkhang_ipy.model import (
    Column,
    Evidence,
    Frame,
    FrameAt,
    InParent,
    Lock,
    Process,
    Thread,
    Told,
    Verdict,
    Wait,
    WaitKind,
)

WAITS_FOR = {
    WaitKind.LOCK: "waits for a lock",
    WaitKind.NOTIFICATION: "waits to be notified by another thread",
    WaitKind.GIL: "waits for the GIL",
    WaitKind.SEMAPHORE: "waits for a semaphore that processes share",
    WaitKind.CHILD: "waits for its child to end",
    WaitKind.PIPE_READ: "waits for something to read",
    WaitKind.PIPE_WRITE: "waits for room in a pipe",
    WaitKind.THREAD: "waits for another thread to end",
    WaitKind.SLEEP: "sleeps",
    WaitKind.POLL: "waits for input or output",
    WaitKind.ON_CPU: "runs",
    WaitKind.DISK: "waits for a device, in the kernel",
    WaitKind.STOPPED: "is stopped",
}


def named(process: Process, thread: Thread) -> str:
    """A thread as it stands in a sentence: `1680 MainThread`."""
    pid = "The process" if process.pid is None else str(process.pid)
    return f"{pid} {thread.name}" if thread.name else pid


def at(frame: Optional[Frame]) -> str:
    """A place in the source, in brackets: ` (train.py:10)`; nothing where it is unknown."""
    if frame is None or frame.file is None:
        return ""
    file = frame.file.replace("\\", "/").rsplit("/", 1)[-1]
    return f" ({file}:{frame.line})" if frame.line else f" ({file})"


def waiting(wait: Optional[Wait], process: Process, thread: Thread, title: Optional[str] = None) -> str:
    """`1680 MainThread waits for its child 1718 to end (train.py:10)`."""
    return f"{named(process, thread)} {doing(wait, thread, title)}"


def doing(wait: Optional[Wait], thread: Thread, title: Optional[str] = None) -> str:
    """`waits for its child 1718 to end (train.py:10)`."""
    if wait is None:
        return "waits for something that cannot be told"
    what = f"waits for {title}" if title else WAITS_FOR[wait.kind]
    if wait.kind is WaitKind.CHILD and wait.target is not None:
        what = f"waits for its child {wait.target} to end"
    return f"{what}{at(first_of_users(thread.python))}"


def holder(place: Place, unknown: str) -> str:
    """Who held an inherited lock, as it stands in a sentence; `unknown` says it where nobody recorded it."""
    lock = place.lock
    owner = lock.owner if lock else None
    if owner is not None and owner.process != place.process.pid:
        name = f'thread "{owner.thread}"' if owner.thread else f"thread {lock.owner_tid if lock else ''}"
        return f"{name} of {owner.process}{at(Frame(owner.function, owner.file, owner.line))}"
    return f"{unknown} in {place.parent.pid}" if place.parent else f"{unknown} in its parent"


def named_lock(lock: Optional[Lock], kind: Optional[str]) -> Optional[Lock]:
    """A lock under the name that its signature knows; one that records its own kind keeps it."""
    return replace(lock, kind=kind) if lock is not None and kind and lock.owner_tid is None else lock


# --- summary ---------------------------------------------------------------------------------------------------------


def summary(match: Match, place: Place) -> str:
    """The finding in a sentence or two."""
    process, signature = place.process, match.signature
    pid = "The process" if process.pid is None else f"Process {process.pid}"
    if signature.verdict is not Verdict.FORK_DEADLOCK:
        return f"{pid} is not in a fork deadlock: it waits for {signature.title}. {signature.shows}"
    will = "will never go on" if Fact.FOR_EVER in match.facts or Fact.SPINNING in match.facts else "does not go on"
    if not _is_a_lock(match):
        return f"{pid} {will}: it waits for {signature.title}, and fork copied none of them."
    held = f"{holder(place, signature.holder)} held when the process was forked"
    return (
        f"{pid} {will}: it waits for {signature.title}, which {held}. That thread was not copied, so nobody can "
        f"release it."
    )


def stopped(place: Place) -> str:
    """Of a process that a signal stopped."""
    pid = place.process.pid
    return f"Process {pid} is stopped by a signal, and goes on when it is continued: kill -CONT {pid}."


def moving(place: Place) -> str:
    """Of a process that is not stuck at all."""
    return f"Process {place.process.pid} is not stuck: it ran between two looks ({_where(place)})."


def waiting_well(place: Place) -> str:
    """Of a process that waits for something that can still come."""
    return f"Nothing here is stuck: {waiting(place.thread.wait, place.process, place.thread)}."


def doubt(place: Optional[Place]) -> Tuple[str, str]:
    """Why it cannot be said, and the one piece of evidence that would decide."""
    if place is None:
        return "No live thread was seen.", "Take the dump again while the process hangs: forkhang PID."
    said = waiting(place.thread.wait, place.process, place.thread)
    pid = place.process.pid if place.process.pid is not None else "PID"
    return f"It cannot be told what holds it: {said}.", _decides(place, pid)


def _decides(place: Place, pid: object) -> str:
    wait = place.thread.wait
    if wait is not None and wait.kind is WaitKind.CHILD:
        child = wait.target if wait.target is not None else "CHILD"
        return f"What the child does decides: forkhang {child}."
    if not place.thread.native:
        return f"The native stack of this thread and the kernel's word decide: forkhang {pid}."
    if wait is None or wait.told is Told.STACK:
        return f"Whether it moves, and what the kernel says that it waits for, decide: forkhang {pid}."
    return f"Who should wake it decides; a later look shows whether it moves: forkhang {pid} --samples 3 --interval 10."


def link(match: Optional[Match], thread: Thread) -> str:
    """What one thread in the chain of waits does."""
    if match is None or match.signature.verdict is not Verdict.FORK_DEADLOCK:
        return doing(thread.wait, thread)
    held = ", held at the fork by a thread that it does not have" if _is_a_lock(match) else ""
    return f"{doing(thread.wait, thread, match.signature.title)}{held}"


def gone(match: Match, place: Place) -> str:
    """The end of the chain of a fork deadlock."""
    if _is_a_lock(match):
        return f"{holder(place, match.signature.holder)}: fork did not copy it, so nobody will ever release the lock"
    return f"{match.signature.title}: fork did not copy them, so nobody will ever wake it"


def _is_a_lock(match: Match) -> bool:
    """Whether somebody must release something, not only be there."""
    return match.signature.lock is not None or match.signature.id == INHERITED_LOCK.id


def _where(place: Place) -> str:
    frame = first_of_users(place.thread.python) or next(iter(place.thread.python), None)
    return (at(frame).strip(" ()") or "native code") if frame else "native code"


# --- proof -----------------------------------------------------------------------------------------------------------


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
    yield from _parent_evidence(place)
    yield from _bug_evidence(match.signature.bug, process.python)


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
    if lock is None or not place.process.forked:
        return
    if lock.owner_tid is not None and lock.owner_gone:
        who = f" It is {holder(place, 'a thread')}." if lock.owner else ""
        pid = place.process.pid
        yield Evidence(f"The lock records its owner: TID {lock.owner_tid}, which is no thread of {pid}.{who}")
    if lock.in_parent is not None:
        says = {InParent.HELD: "is held there now", InParent.RELEASED: "has been released there since"}
        yield Evidence(f"The parent's original of the lock, at the same address, {says[lock.in_parent]}.")


def _parent_evidence(place: Place) -> Iterator[Evidence]:
    for thread in place.parent.threads if place.parent else ():
        wait = thread.wait
        if wait is not None and wait.kind is WaitKind.CHILD and wait.target == place.process.pid and place.parent:
            yield Evidence(f"Its parent waits in turn: {waiting(wait, place.parent, thread)}.")


def _bug_evidence(bug: Optional[Bug], version: Optional[str]) -> Iterator[Evidence]:
    branch = ".".join((version or "").split(".")[:2])
    for affected in bug.affected if bug else ():
        if affected.branch == branch and affected.fixed is not None and bug is not None:
            yield Evidence(f"This is {bug.reference}; {affected.fixed} is the first {branch} release without it.")

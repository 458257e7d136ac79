"""The English of a diagnosis: the summary, the doubt and the chain, each a plain sentence."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Optional, Tuple

from forkhang_ipy.analysis.facts import Place
from forkhang_ipy.analysis.frames import first_of_users, is_plumbing
from forkhang_ipy.analysis.locks import UNNAMED
from forkhang_ipy.analysis.matching import Match
from forkhang_ipy.knowledge.signatures import Fact
from forkhang_ipy.knowledge.signatures.native import INHERITED_LOCK, LOST_THREADS
from forkhang_ipy.model import (
    Confidence,
    Frame,
    InParent,
    Lock,
    Owner,
    Process,
    Thread,
    Told,
    Verdict,
    Wait,
    WaitKind,
)

PYTHON_ITSELF = re.compile(r"(lib)?python[\d.]*(\.so.*)?$|_ctypes|libffi")
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
        return _thread(owner, str(lock.owner_tid) if lock else "")
    if lock is not None and len(lock.candidates) == 1 and lock.in_parent is InParent.HELD:
        return f"probably {_thread(lock.candidates[0], '')}"
    return f"{unknown} in {place.parent.pid}" if place.parent else f"{unknown} in its parent"


def _thread(owner: Owner, number: str) -> str:
    """`thread "holder" of 1680 (x.py:5)`."""
    name = f'thread "{owner.thread}"' if owner.thread else f"thread {number}"
    return f"{name} of {owner.process}{at(Frame(owner.function, owner.file, owner.line))}"


def named_lock(lock: Optional[Lock], kind: Optional[str]) -> Optional[Lock]:
    """A lock under the name that its signature knows; one that records its own kind keeps it."""
    return replace(lock, kind=kind) if lock is not None and kind and lock.kind == UNNAMED else lock


def title(match: Match, place: Place) -> str:
    """What the thread waits for, with the name that the program has for it, or the library that it belongs to."""
    signature, lock = match.signature, place.lock
    if lock is not None and lock.variable and _is_a_lock(match):
        return f'{signature.title} ("{lock.variable}")'
    library = _library(place.thread) if signature in (INHERITED_LOCK, LOST_THREADS) else None
    return f"{signature.title} of {library}" if library else signature.title


def _library(thread: Thread) -> Optional[str]:
    """The library that waits: the first that does more than carry out the wait, if it is not Python itself."""
    frame = next((frame for frame in thread.native if not is_plumbing(frame)), None)
    name = (frame.module or "").replace("\\", "/").rsplit("/", 1)[-1] if frame else ""
    return None if not name or PYTHON_ITSELF.match(name) else name


# --- summary ---------------------------------------------------------------------------------------------------------


def summary(match: Match, place: Place) -> str:
    """The finding in a sentence or two."""
    process, signature = place.process, match.signature
    pid = "The process" if process.pid is None else f"Process {process.pid}"
    if signature.verdict is not Verdict.FORK_DEADLOCK:
        return f"{pid} is not in a fork deadlock: it waits for {title(match, place)}. {signature.shows}"
    will = "will never go on" if Fact.FOR_EVER in match.facts or Fact.SPINNING in match.facts else "does not go on"
    if not _is_a_lock(match):
        return f"{pid} {will}: it waits for {title(match, place)}, and fork copied none of them."
    if not signature.inherited and place.process.forked is not True:
        return f"{pid} {will}: it stands inside fork(), before there is a child, and waits for {title(match, place)}."
    sure = match.confidence is Confidence.PROVEN or not signature.inherited
    who = holder(place, signature.holder)
    probably = "" if sure or who.startswith("probably") else "probably "
    return (
        f"{pid} {will}: it waits for {title(match, place)}, which {probably}{who} held when the process was forked. "
        f"That thread was not copied, so nobody can release it."
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


def doubt(place: Optional[Place], suspicion: Optional[Match]) -> Tuple[str, str]:
    """Why it cannot be said, what it may be, and the one piece of evidence that would decide."""
    if place is None:
        return "No live thread was seen.", "Take the dump again while the process hangs: forkhang PID."
    said = waiting(place.thread.wait, place.process, place.thread)
    pid = place.process.pid if place.process.pid is not None else "PID"
    may = f" It may wait for {title(suspicion, place)}: {suspicion.signature.id}." if suspicion else ""
    return f"It cannot be told what holds it: {said}.{may}", _decides(place, pid)


def proof(place: Place) -> Optional[str]:
    """The command that would prove what a saved text only makes likely; None for a process that was looked at."""
    if place.dump.target is not None:
        return None
    pid = place.process.pid if place.process.pid is not None else "PID"
    return f"A look at the process itself would prove it: forkhang {pid}."


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


def link(thread: Thread, case: Optional[Tuple[Place, Match]]) -> str:
    """What one thread in the chain of waits does."""
    if case is None or case[1].signature.verdict is not Verdict.FORK_DEADLOCK:
        return doing(thread.wait, thread)
    place, match = case
    held = ", held at the fork by a thread that it does not have" if _is_a_lock(match) else ""
    return f"{doing(thread.wait, thread, title(match, place))}{held}"


def gone(match: Match, place: Place) -> str:
    """The end of the chain of a fork deadlock."""
    if _is_a_lock(match):
        return f"{holder(place, match.signature.holder)}: fork did not copy it, so nobody will ever release the lock"
    return f"{title(match, place)}: fork did not copy them, so nobody will ever wake it"


def _is_a_lock(match: Match) -> bool:
    """Whether somebody must release something, not only be there."""
    return match.signature.lock is not None or match.signature.id == INHERITED_LOCK.id


def _where(place: Place) -> str:
    frame = first_of_users(place.thread.python) or next(iter(place.thread.python), None)
    return (at(frame).strip(" ()") or "native code") if frame else "native code"

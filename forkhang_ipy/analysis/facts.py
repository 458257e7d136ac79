"""What can be shown of a thread and its process: each fact is true, false, or left out where it cannot be told."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Callable, Dict, FrozenSet, Iterator, Optional, Sequence, Tuple

from forkhang_ipy.analysis import graph
from forkhang_ipy.analysis.frames import matches
from forkhang_ipy.analysis.locks import lock_of
from forkhang_ipy.analysis.owners import candidates, entering, left_behind
from forkhang_ipy.analysis.progress import Progress, progress
from forkhang_ipy.knowledge.reentry import FINALISERS, GUARDED, HANDLERS, PYTHONS_LOCKS
from forkhang_ipy.knowledge.signatures import Fact
from forkhang_ipy.knowledge.workers import HELPERS, WAITS_FOR_WORK
from forkhang_ipy.model import Dump, Frame, InParent, Lock, Process, Thread, Told, WaitKind

IDLE = (WaitKind.PIPE_READ, WaitKind.SEMAPHORE, WaitKind.POLL)
Known = Tuple[Fact, Optional[bool]]


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
        """The lock that the thread waits for; where it records no owner, with those who may hold it."""
        lock = lock_of(self.thread, self.process, self.parent)
        if lock is None or lock.owner is not None:
            return lock
        suspects = tuple(entering(self.parent)) if self.process.forked else ()
        where = self.parent if self.process.forked else self.process
        return replace(lock, candidates=suspects or tuple(candidates(self.thread, self.process, where)))


def facts(place: Place) -> Dict[Fact, bool]:
    """The facts that are known, as true or false."""
    known = (
        *_of_process(place),
        *_of_progress(place),
        *_of_lock(place.lock, place),
        *_of_company(place),
        *_of_family(place),
    )
    return {fact: holds for fact, holds in known if holds is not None}


def live_count(process: Process) -> Optional[int]:
    """How many live tasks the process has, or None."""
    return len(process.tasks) if process.tasks is not None else process.live_tasks


def _of_process(place: Place) -> Iterator[Known]:
    process = place.process
    count = live_count(process)
    yield Fact.FORKED, process.forked
    yield Fact.STARTED_ANEW, None if process.forked is None else not process.forked
    shown = len(graph.live(process))
    yield Fact.ALONE, count == 1 if count is not None else (False if _has_company(process) else None)
    yield Fact.NO_OTHER_SHOWN, (count if count is not None else shown) == 1
    yield Fact.REENTERED, _reentered(place.thread.python) if place.thread.python else None
    locked = _locked(process)
    addresses = {thread.wait.address for thread in locked if thread.wait} - {None}
    kinds = [thread.wait.kind if thread.wait else None for thread in graph.live(process)]
    yield Fact.ALL_LOCKED, all(kind in (WaitKind.LOCK, WaitKind.THREAD) for kind in kinds)
    yield Fact.SEVERAL_LOCKED, place.thread in locked and len(locked) > 1 and len(addresses) != 1


def _has_company(process: Process) -> bool:
    """Where nobody counted: two threads with a native stack live; a Python stack alone may be a ghost's."""
    return len([thread for thread in graph.live(process) if thread.native and thread.tid is not None]) > 1


def _of_progress(place: Place) -> Iterator[Known]:
    moves = progress(place.thread)
    looked = moves is not None
    yield Fact.STILL, moves is Progress.STILL if looked else None
    yield Fact.SPINNING, moves is Progress.SPINNING if looked else None
    wait = place.thread.wait
    stuck = graph.node(place.process, place.thread) in place.stuck
    # One look is enough where the kernel says that nothing but another thread ends the wait.
    by_kernel = stuck and wait is not None and wait.told is Told.KERNEL
    yield Fact.FOR_EVER, stuck if looked or by_kernel else None


def _of_lock(lock: Optional[Lock], place: Place) -> Iterator[Known]:
    yield Fact.HOLDER_LEFT_BEHIND, _holder_left_behind(lock, place)
    if lock is None:
        return
    yield Fact.OWNER_GONE, _is_gone(lock, place)
    itself = _is_own(lock, place.thread)
    yield Fact.OWNER_IS_ITSELF, itself
    yield Fact.OWNERS_CROSS, _owner_is_locked(lock, place) and not itself
    yield Fact.HELD_IN_PARENT, lock.in_parent is InParent.HELD if lock.in_parent else None
    yield Fact.SUSPECT_IN_PARENT, bool(lock.candidates) and bool(place.process.forked)
    yield Fact.NO_LIVE_SUSPECT, next(candidates(place.thread, place.process, place.process), None) is None


def _is_gone(lock: Lock, place: Place) -> Optional[bool]:
    """A live owner is not gone; one that is no thread here is, if it was a thread of the parent at the fork."""
    if not lock.owner_gone:
        return lock.owner_gone
    return left_behind(lock.owner_ident, lock.owner_tid, place.process, place.parent) or None


def _holder_left_behind(lock: Optional[Lock], place: Place) -> Optional[bool]:
    """Whether somebody who is not here could have held the lock at the fork; None where the parent was not seen."""
    if place.dump.target is None:
        return True
    if lock is not None and (lock.in_parent is InParent.ABSENT or lock.owner_gone is False):
        return False
    if place.parent is None:
        return None
    own, parents = live_count(place.process), live_count(place.parent)
    more = own is not None and parents is not None and parents > own
    suspects = lock is not None and bool(lock.candidates)
    others = more or suspects or any(thread.ghost for thread in place.process.threads)
    if lock is None or not lock.owner_gone:
        return others
    # An owner that is no thread of either process may have been one of the child's own, and ended.
    return others or left_behind(lock.owner_ident, lock.owner_tid, place.process, place.parent) or None


def _owner_is_locked(lock: Lock, place: Place) -> bool:
    """Whether the owner is a live thread of the same process that waits for a lock too."""
    owner = graph.holder(lock, place.process, place.parent)
    return owner is not None and owner.wait is not None and owner.wait.kind is WaitKind.LOCK


def _is_own(lock: Lock, thread: Thread) -> Optional[bool]:
    if lock.owner_tid is not None:
        return lock.owner_tid in (thread.tid, thread.inner_tid)
    return lock.owner_ident == thread.ident if lock.owner_ident and thread.ident else None


def _of_company(place: Place) -> Iterator[Known]:
    """What the other threads of the process do."""
    kinds = [thread.wait.kind for thread in graph.live(place.process) if thread.wait is not None]
    native = [thread for thread in graph.live(place.process) if _in_native_lock(thread)]
    yield Fact.GIL_AND_NATIVE, (WaitKind.GIL in kinds and bool(native)) or None
    polls = [sample for sample in place.thread.samples if sample.wait is not None and sample.wait.kind is WaitKind.POLL]
    in_vain = [sample for sample in polls if sample.wait is not None and sample.wait.timeout]
    yield Fact.POLLS_IN_VAIN, (len(in_vain) > 1) or None


def _in_native_lock(thread: Thread) -> bool:
    """It waits for a lock that is none of Python's."""
    waits = thread.wait is not None and thread.wait.kind in (WaitKind.LOCK, WaitKind.NOTIFICATION)
    ours = any(matches(call, frame) for call in PYTHONS_LOCKS for frame in thread.native)
    return waits and bool(thread.native) and not ours


def _of_family(place: Place) -> Iterator[Known]:
    process, dump = place.process, place.dump
    children = [child for child in dump.processes if child.parent == process.pid and process.pid is not None]
    siblings = [other for other in dump.processes if other.parent == process.parent and other.parent is not None]
    wait = place.thread.wait
    parents_tasks, own = live_count(place.parent) if place.parent else None, live_count(process)
    yield Fact.PARENT_HAS_MORE, parents_tasks > own if parents_tasks is not None and own is not None else None
    # Of a saved text we do not know whether it shows the whole family.
    unknown = None if dump.target is None else False
    yield Fact.AWAITED, any(_awaits(other, process) for other in dump.processes) or unknown
    dead = any(child.state == "Z" for child in children) or _all_others_dead(place)
    yield Fact.DEAD_CHILD, dead or unknown
    yield Fact.DEAD_SIBLING, any(other.state == "Z" for other in siblings) or unknown
    yield Fact.NOBODY_READS, not any(_reads(other) for other in [*siblings, *children])
    yield Fact.RESPAWNS, any(child.ended for child in children) and any(_is_new(child) for child in children)
    alive = [child for child in children if not child.ended and child.state != "Z" and not is_helper(child)]
    yield Fact.WORKERS_IDLE, bool(alive) and all(_is_idle_worker(child) for child in alive)
    if wait is not None and wait.kind is WaitKind.SEMAPHORE:
        yield Fact.HOLDER_DEAD, _only_waiters_share(place)


def _all_others_dead(place: Place) -> bool:
    """A listing without parents beside one live process's stack: the dead ones are its children."""
    others = [other for other in place.dump.processes if other is not place.process and other.parent is None]
    with_stacks = [other for other in place.dump.processes if graph.live(other)]
    return len(with_stacks) == 1 and any(other.state == "Z" for other in others)


def _reads(process: Process) -> bool:
    reading = (WaitKind.PIPE_READ, WaitKind.POLL)
    return any(thread.wait is not None and thread.wait.kind in reading for thread in graph.live(process))


def _only_waiters_share(place: Place) -> Optional[bool]:
    """Whether all who could hold the shared semaphore wait for it, or for one another to end: its holder is dead."""
    pids = graph.partners(place.thread, place.process, place.dump)
    sharers = [place.dump.process(pid) for pid in pids or ()]
    if pids is None or any(sharer is None for sharer in sharers):
        return None
    waits = [thread.wait for sharer in sharers if sharer for thread in graph.live(sharer)]
    return all(wait is not None and wait.kind in (WaitKind.SEMAPHORE, WaitKind.CHILD) for wait in waits)


def _is_idle_worker(process: Process) -> bool:
    """Whether it stands, at every look, where a worker waits for its next task."""
    main = graph.main_thread(process)
    waits = main is not None and main.wait is not None and main.wait.kind in IDLE
    at_work = main is not None and any(matches(call, frame) for call in WAITS_FOR_WORK for frame in main.python[:6])
    return waits and at_work and main is not None and progress(main) is Progress.STILL


def is_helper(process: Process) -> bool:
    """The trackers and servers that multiprocessing keeps are no workers: they wait until all others have ended."""
    return bool(re.search(HELPERS, process.command or ""))


def _is_new(process: Process) -> bool:
    """Whether it was not there yet at the first look."""
    firsts = [thread.samples[0].index for thread in process.threads if thread.samples]
    return bool(firsts) and min(firsts) > 0


def _awaits(other: Process, process: Process) -> bool:
    waits = (thread.wait for thread in other.threads if not thread.ghost)
    return any(
        wait is not None and wait.kind is WaitKind.CHILD and wait.target is not None and wait.target == process.pid
        for wait in waits
    )


def _locked(process: Process) -> Tuple[Thread, ...]:
    """The threads that stand in a lock of Python's; a parked thread of a native pool looks the same to the kernel."""
    return tuple(
        thread
        for thread in graph.live(process)
        if thread.python and thread.wait is not None and thread.wait.kind is WaitKind.LOCK
    )


def _reentered(python: Sequence[Frame]) -> bool:
    """Whether a finaliser or signal handler interrupted the very code that it now calls again.

    A finaliser can only have interrupted what stands below it; what is called like a signal's handler may be an
    ordinary function, and the same function must stand on both sides of it.
    """
    for at, frame in enumerate(python):
        inner, outer = python[:at], python[at + 1 :]
        if any(matches(call, frame) for call in FINALISERS) and _common(inner, outer, lambda each: each.file):
            return True
        if any(matches(call, frame) for call in HANDLERS) and _common(inner, outer, lambda each: each.function):
            return True
    return _guarded_twice(python)


def _common(inner: Sequence[Frame], outer: Sequence[Frame], what: Callable[[Frame], Optional[str]]) -> bool:
    """Whether frames of one file, and alike in `what`, stand on both sides."""
    return bool({(what(frame), frame.file) for frame in inner} & {(what(frame), frame.file) for frame in outer})


def _guarded_twice(python: Sequence[Frame]) -> bool:
    """A function of the standard library that takes a lock stands twice in one stack."""
    names = [(frame.function, frame.file) for frame in python if any(matches(call, frame) for call in GUARDED)]
    return len(names) != len(set(names))

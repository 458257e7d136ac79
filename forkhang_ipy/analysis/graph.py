"""Who can never go on? One fixed point over the wait-for graph.

A node is a thread. It waits for any of its targets: a thread, GONE (a thread that fork did not copy: it never goes on)
or OUTSIDE (something that we do not see, or that needs nobody: it may always go on). Let everything go on that can; who
is left is stuck. That covers cycles, GONE, and the parent that waits for a stuck child.

Signal handlers are left aside: one that releases a lock would be a wonder of its own.
"""

from __future__ import annotations

from enum import Enum
from typing import Dict, FrozenSet, Iterator, Optional, Tuple, Union

from forkhang_ipy.analysis.ancestry import origin
from forkhang_ipy.analysis.frames import matches
from forkhang_ipy.analysis.locks import lock_of
from forkhang_ipy.analysis.owners import live_by_ident, live_by_tid
from forkhang_ipy.knowledge.reentry import LETS_HANDLERS_RUN
from forkhang_ipy.model import Dump, Lock, Process, Thread, Told, Wait, WaitKind

NEAR = 8
"""A wait's name stands among this many innermost native frames."""


class End(Enum):
    """Where a chain of waits can end other than at a thread."""

    GONE = "a thread that fork did not copy"
    OUTSIDE = "something else"


Node = Tuple[Optional[int], Optional[int]]
"""(pid, TID)"""
Target = Union[Node, End]
Graph = Dict[Node, Tuple[Target, ...]]
ACROSS = {WaitKind.PIPE_READ: "w", WaitKind.PIPE_WRITE: "r", WaitKind.SEMAPHORE: ""}
"""Waits that a thread of another process can end, and what it must have the pipe open for."""
SEEN_IN_STACK = (WaitKind.LOCK, WaitKind.GIL)
"""Waits that a stack shows well enough: nobody stands there for another reason."""
WITHIN = (WaitKind.LOCK, WaitKind.NOTIFICATION, WaitKind.GIL, WaitKind.THREAD)
"""Waits that only a thread of the same process can end."""


def graph(dump: Dump) -> Graph:
    """What each live thread waits for."""
    return {
        node(process, thread): tuple(_targets(thread, process, dump)) or (End.GONE,)
        for process in dump.processes
        for thread in live(process)
    }


def stuck(waits: Graph) -> FrozenSet[Node]:
    """The threads that can never go on."""
    left = set(waits)
    while True:
        free = {waiter for waiter in left if any(_may_go_on(target, left) for target in waits[waiter])}
        if not free:
            return frozenset(left)
        left -= free


def node(process: Process, thread: Thread) -> Node:
    """A thread's place in the graph."""
    return (process.pid, thread.tid)


def live(process: Process) -> Tuple[Thread, ...]:
    """The threads of a process that are no ghosts."""
    return tuple(thread for thread in process.threads if not thread.ghost)


def main_thread(process: Process) -> Optional[Thread]:
    """The thread whose end ends the process."""
    threads = live(process)
    return next((thread for thread in threads if thread.tid == process.pid), threads[0] if threads else None)


def _may_go_on(target: Target, left: set[Node]) -> bool:
    return target is End.OUTSIDE or (not isinstance(target, End) and target not in left)


def _targets(thread: Thread, process: Process, dump: Dump) -> Iterator[Target]:
    """Any of these could let the thread go on; none at all: nobody can."""
    wait = thread.wait
    if wait is None or _wakes(wait) or (wait.told is Told.STACK and wait.kind not in SEEN_IN_STACK):
        yield End.OUTSIDE
    elif wait.kind is WaitKind.CHILD:
        yield from _children(wait.target, process, dump)
    elif wait.kind in WITHIN and (process.tasks is not None or process.live_tasks == 1):
        yield from _within(thread, process, dump)
    elif wait.kind in ACROSS:
        yield from _across(thread, process, dump)
    else:
        yield End.OUTSIDE


def _wakes(wait: Wait) -> bool:
    """It ends by itself, or may; but who waits for the GIL asks again and again, in vain while its holder waits."""
    if wait.kind is WaitKind.GIL:
        return False
    return wait.timeout is not False if wait.told is Told.KERNEL else bool(wait.timeout)


def _across(thread: Thread, process: Process, dump: Dump) -> Iterator[Target]:
    """Any thread of the processes at the other end, but for those that wait for the same thing."""
    pids = partners(thread, process, dump)
    for pid in pids or ():
        other = dump.process(pid)
        if other is None or not other.threads:
            yield End.OUTSIDE
            continue
        yield from (node(other, one) for one in live(other) if one != thread and not _same_wait(one, thread))
    if pids is None or (not pids and thread.wait is not None and thread.wait.kind is WaitKind.PIPE_READ):
        # Nobody can write: the reader gets the end of the file.
        yield End.OUTSIDE


def partners(thread: Thread, process: Process, dump: Dump) -> Optional[Tuple[int, ...]]:
    """The processes that could end this wait for a pipe or a shared semaphore; None where not all are known."""
    wait = thread.wait
    if wait is not None and wait.kind is WaitKind.SEMAPHORE:
        shared = next((one for one in dump.sharers if (one.pid, one.word) == (process.pid, wait.address)), None)
        return None if shared is None or shared.unseen else shared.pids
    mode = ACROSS.get(wait.kind) if wait is not None else None
    name = (wait.file or "").rsplit(":", 1)[0] if wait is not None else ""
    ends = next((one for one in dump.ends if one.resource == name and name.startswith("pipe:")), None)
    if ends is None or ends.unseen or mode is None:
        return None
    return tuple(pid for pid, its_mode in ends.ends if mode in its_mode)


def _same_wait(one: Thread, other: Thread) -> bool:
    mine, its = one.wait, other.wait
    if mine is None or its is None or mine.kind is not its.kind:
        return False
    return mine.kind is WaitKind.SEMAPHORE or (mine.file is not None and mine.file == its.file)


def _children(pid: Optional[int], process: Process, dump: Dump) -> Iterator[Target]:
    children = [child for child in dump.processes if child.parent == process.pid and pid in (None, child.pid)]
    for child in children:
        main = main_thread(child)
        yield node(child, main) if main and not child.ended and child.state != "Z" else End.OUTSIDE
    if not children:
        yield End.OUTSIDE


def _within(thread: Thread, process: Process, dump: Dump) -> Iterator[Target]:
    """The owner of the lock, or the thread that is joined; where neither is known, any other live thread."""
    parent = origin(process, dump)
    lock = lock_of(thread, process, parent)
    known = _owner(lock, process, parent) if lock else _joined(thread, process)
    others = [other for other in live(process) if other.tid != thread.tid and not _both_want_gil(other, thread)]
    if known is not None:
        yield known
    elif others:
        yield from (node(process, other) for other in others)
    elif _may_be_signalled(thread):
        yield End.OUTSIDE


def _both_want_gil(one: Thread, other: Thread) -> bool:
    return all(thread.wait is not None and thread.wait.kind is WaitKind.GIL for thread in (one, other))


def holder(lock: Lock, process: Process, parent: Optional[Process]) -> Optional[Thread]:
    """The live thread of this process that holds the lock; None where it is not known or is none of them."""
    if lock.owner_tid is not None:
        return live_by_tid(lock.owner_tid, process)
    return live_by_ident(lock.owner_ident, process, parent)


def _owner(lock: Lock, process: Process, parent: Optional[Process]) -> Optional[Target]:
    if lock.owner_gone:
        return End.GONE
    owner = holder(lock, process, parent)
    return node(process, owner) if owner is not None else None


def _joined(thread: Thread, process: Process) -> Optional[Target]:
    target = thread.wait.target if thread.wait else None
    return next((node(process, other) for other in live(process) if target is not None and other.tid == target), None)


def _may_be_signalled(thread: Thread) -> bool:
    """A Python thread that waits to be notified may wait for a signal's handler: Event and SimpleQueue allow it."""
    wait, native = thread.wait, thread.native[:NEAR]
    if wait is None or wait.kind is not WaitKind.NOTIFICATION or not thread.python:
        return False
    return not native or any(matches(call, frame) for call in LETS_HANDLERS_RUN for frame in native)

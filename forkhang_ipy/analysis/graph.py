"""Who can never go on? One fixed point over the wait-for graph.

A node is a thread. It waits for any of its targets: a thread, GONE (a thread that fork did not copy: it never goes on)
or OUTSIDE (something that we do not see, or that needs nobody: it may always go on). Let everything go on that can; who
is left is stuck. That covers cycles, GONE, and the parent that waits for a stuck child.

Signal handlers are left aside: one that releases a lock would be a wonder of its own.
"""

from __future__ import annotations

from enum import Enum
from typing import Dict, FrozenSet, Iterator, Optional, Tuple, Union

from forkhang_ipy.analysis.locks import lock_of
from forkhang_ipy.model import Dump, Lock, Process, Thread, Told, WaitKind


class End(Enum):
    """Where a chain of waits can end other than at a thread."""

    GONE = "a thread that fork did not copy"
    OUTSIDE = "something else"


Node = Tuple[Optional[int], Optional[int]]
"""(pid, TID)"""
Target = Union[Node, End]
Graph = Dict[Node, Tuple[Target, ...]]
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
    if wait is None or wait.timeout or (wait.told is Told.STACK and wait.kind is not WaitKind.LOCK):
        yield End.OUTSIDE
    elif wait.kind is WaitKind.CHILD:
        yield from _children(wait.target, process, dump)
    elif wait.kind in WITHIN and process.tasks is not None:
        yield from _within(thread, process, dump)
    else:
        yield End.OUTSIDE


def _children(pid: Optional[int], process: Process, dump: Dump) -> Iterator[Target]:
    children = [child for child in dump.processes if child.parent == process.pid and pid in (None, child.pid)]
    for child in children:
        main = main_thread(child)
        yield node(child, main) if main and not child.ended and child.state != "Z" else End.OUTSIDE
    if not children:
        yield End.OUTSIDE


def _within(thread: Thread, process: Process, dump: Dump) -> Iterator[Target]:
    """The owner of the lock, or the thread that is joined; where neither is known, any other live thread."""
    lock = lock_of(thread, process, dump.process(process.parent))
    known = _owner(lock, process) if lock else _joined(thread, process)
    others = [other for other in live(process) if other.tid != thread.tid]
    if known is not None:
        yield known
    elif others:
        yield from (node(process, other) for other in others)
    elif _may_be_signalled(thread):
        yield End.OUTSIDE


def _owner(lock: Lock, process: Process) -> Optional[Target]:
    if lock.owner_tid is None:
        return None
    if lock.owner_gone:
        return End.GONE
    return next((node(process, thread) for thread in live(process) if thread.inner_tid == lock.owner_tid), None)


def _joined(thread: Thread, process: Process) -> Optional[Target]:
    target = thread.wait.target if thread.wait else None
    return next((node(process, other) for other in live(process) if target is not None and other.tid == target), None)


def _may_be_signalled(thread: Thread) -> bool:
    """A Python thread that waits for an Event alone may wait for a signal's handler to set it."""
    return (
        thread.wait is not None
        and thread.wait.kind is WaitKind.NOTIFICATION
        and bool(thread.python)
        and ((thread.python[0].file or "").endswith("threading.py"))
    )

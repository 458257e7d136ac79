"""The vocabulary of signatures: what a known hang looks like, and what must hold for it to be claimed.

In the Python column the first of its calls must be the innermost frame; in the native column only waiting itself (libc,
`PyThread_acquire_lock`) may lie further in.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import FrozenSet, Optional, Tuple

from forkhang_ipy.knowledge.calls import Calls
from forkhang_ipy.knowledge.cpython import Bug
from forkhang_ipy.model import Remedy, Verdict, WaitKind


class Fact(Enum):
    """Something that can be shown of a thread and its process; where it cannot be told, it is left open."""

    FORKED = "the process was made by fork, not exec"
    STARTED_ANEW = "the process was made by exec"
    AWAITED = "another process waits for it to end"
    ALONE = "the process has one live thread"
    NO_OTHER_SHOWN = "no other live thread of the process was seen"
    FOR_EVER = "nobody who could wake the thread can ever go on"
    STILL = "looks at different times show the same wait and no cpu used"
    SPINNING = "it burns cpu in the same frames"
    OWNER_GONE = "the lock's owner is no thread of this process"
    OWNER_IS_ITSELF = "the thread itself holds the lock"
    HELD_IN_PARENT = "the parent's original of the lock is held"
    HOLDER_LEFT_BEHIND = "somebody who is not in the process could have held the lock at the fork"
    SUSPECT_IN_PARENT = "a thread that only the parent has is in the code that uses the lock"
    PARENT_HAS_MORE = "the parent has threads that the process has not"
    ALL_LOCKED = "every live thread of the process that was seen waits for a lock or for another thread"
    SEVERAL_LOCKED = "it and other live threads of its process wait for different locks"
    OWNERS_CROSS = "a live thread of the same process holds the lock, and waits for a lock itself"
    NO_LIVE_SUSPECT = "no other live thread of the process is in the code that uses the lock"
    GIL_AND_NATIVE = "one live thread waits for the GIL, another for a native lock"
    HOLDER_DEAD = "all who could hold the shared semaphore wait for it, or for one another to end"
    RESPAWNS = "children of it end and new ones are started while we look"
    WORKERS_IDLE = "all its workers wait for a task"
    NOBODY_READS = "of those who share the queue nobody reads from it"
    POLLS_IN_VAIN = "it polls again and again without waiting"
    REENTERED = "a finaliser or signal handler stands between two calls of the same code"
    DEAD_CHILD = "a child of the process is dead and not collected"
    DEAD_SIBLING = "another child of its parent is dead"


Facts = FrozenSet[Fact]


@dataclass(frozen=True)
class Signature:
    """One known hang, or one known look-alike."""

    id: str
    title: str
    """What the thread waits for, as it stands in a sentence: "1718 waits for ..."."""
    verdict: Verdict
    shows: str
    """What the decisive frames say, as a sentence of evidence."""
    fooled_by: str
    """The innocent near-miss, and what tells it apart."""
    waits: Tuple[WaitKind, ...] = ()
    """Kinds of wait that it may have; empty: any."""
    native: Tuple[Calls, ...] = ()
    """Any of these in the native column, or ..."""
    python: Tuple[Calls, ...] = ()
    """... any of these in the Python column; both empty: any stack."""
    anywhere: Tuple[Calls, ...] = ()
    """... or any of these in either column, however far from the innermost frame."""
    says: Tuple[str, ...] = ()
    """... or any of these in the exception that ended the thread, or in a line of log beside the stacks."""
    beside: Tuple[Calls, ...] = ()
    """And any of these in another live thread of the same process."""
    lock_kinds: Tuple[str, ...] = ()
    """And the lock that it waits for is one of these, by the field's name."""
    never: Calls = ()
    """A frame, in either column, that rules it out."""
    no_thread_named: Optional[str] = None
    """A live thread of the process with such a name rules it out."""
    needs: Tuple[Facts, ...] = ()
    """All facts of any of these must hold for it to be claimed; where they are open it is possible; empty: none."""
    unless: Facts = frozenset()
    """If any of these facts holds, it is not claimed."""
    unless_not: Facts = frozenset()
    """If any of these facts is known not to hold, it is not claimed."""
    proof: Tuple[Facts, ...] = ()
    """All facts of any of these make it proven."""
    still: bool = True
    """A thread that moves cannot be in it."""
    lock: Optional[str] = None
    """The lock's name in the field (`threading.Lock`)."""
    inherited: bool = True
    """The lock was copied held: it is claimed only if somebody who is not here could have held it at the fork."""
    holder: str = "another thread"
    """Who holds such a lock, where nobody recorded it."""
    bug: Optional[Bug] = None
    remedies: Tuple[Remedy, ...] = ()

"""The vocabulary of signatures: what a known hang looks like, and what must hold for it to be claimed.

Patterns are regular expressions: a function must match as a whole, a file or module anywhere. Sequences are innermost
first; other frames may stand between. In the Python column the first one must be the innermost frame; in the native
column only waiting itself (libc, `PyThread_acquire_lock`) may lie further in.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import FrozenSet, Optional, Tuple

from forkhang_ipy.knowledge.cpython import Bug
from forkhang_ipy.model import Remedy, Verdict, WaitKind


class Fact(Enum):
    """Something that can be shown of a thread and its process."""

    FORKED = "the process was made by fork, not exec"
    ALONE = "the process has one live thread"
    FOR_EVER = "nobody who could wake the thread can ever go on"
    STILL = "looks at different times show the same wait and no cpu used"
    SPINNING = "it burns cpu in the same frames"
    OWNER_GONE = "the lock's owner is no thread of this process"
    HELD_IN_PARENT = "the parent's original of the lock is held"
    PARENT_HAS_MORE = "the parent has threads that the process has not"
    STARTED_ANEW = "the process was made by exec"
    SEVERAL_LOCKED = "it and other live threads of its process wait for different locks"
    CHILD_UNSEEN = "the child that it waits for was not looked at"


Facts = FrozenSet[Fact]


@dataclass(frozen=True)
class Call:
    """A frame to look for; None matches anything."""

    function: Optional[str] = None
    file: Optional[str] = None
    module: Optional[str] = None


Calls = Tuple[Call, ...]


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
    never: Calls = ()
    """A frame, in either column, that rules it out."""
    needs: Tuple[Facts, ...] = ()
    """All facts of any of these must hold for it to be claimed at all; empty: nothing more."""
    proof: Tuple[Facts, ...] = ()
    """All facts of any of these make it proven."""
    lock: Optional[str] = None
    """The lock's name in the field (`threading.Lock`)."""
    holder: str = "another thread"
    """Who holds such a lock, where nobody recorded it."""
    bug: Optional[Bug] = None
    remedies: Tuple[Remedy, ...] = ()

"""Was a process made by fork, or started anew by exec? And why do we say so.

The kernel draws the places of stack, heap and environment anew at each exec; fork copies them. So equal places prove a
fork, and different ones an exec. Where nobody could read them, the stack may tell.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Optional, Tuple

from forkhang_ipy.analysis.frames import matches
from forkhang_ipy.knowledge.forks import FORKED, IN_FORK, STARTED_ANEW, STARTED_ANEW_COMMAND
from forkhang_ipy.knowledge.signatures import Call
from forkhang_ipy.model import Dump, Frame, Process

ENOUGH = 3
"""This many equal places are no chance."""
INIT = 1
"""It takes in orphans, whose own parent is gone: unlike its layout means nothing."""
Answer = Tuple[Optional[bool], Optional[str]]


def with_ancestry(dump: Dump) -> Dump:
    """The same dump, in which each process knows whether it was forked."""
    return replace(dump, processes=tuple(_told(process, dump) for process in dump.processes))


def _told(process: Process, dump: Dump) -> Process:
    parent = dump.process(process.parent)
    for forked, why in (_same_layout(process, parent), _by_stack(process), _other_layout(process, parent)):
        if forked is not None:
            return replace(process, forked=forked, forked_why=why)
    return process


def _same_layout(process: Process, parent: Optional[Process]) -> Answer:
    if not _comparable(process, parent) or parent is None or process.layout != parent.layout:
        return None, None
    why = f"Its stack, heap and environment lie at the same random addresses as those of its parent {parent.pid}"
    return True, f"{why}: it was forked, and no exec came after."


def _other_layout(process: Process, parent: Optional[Process]) -> Answer:
    if not _comparable(process, parent) or parent is None or parent.pid == INIT:
        return None, None
    return False, f"Its memory is laid out unlike that of its parent {parent.pid}: it was started anew by exec."


def _comparable(process: Process, parent: Optional[Process]) -> bool:
    return parent is not None and min(len(process.layout), len(parent.layout)) >= ENOUGH


def _by_stack(process: Process) -> Answer:
    if _has(process, (IN_FORK,)):
        return True, "It still stands inside fork()."
    if re.search(STARTED_ANEW_COMMAND, process.command or "") or _has(process, STARTED_ANEW):
        return False, "It was started anew by spawn or a fork server."
    if _has(process, FORKED):
        return True, "At the root of its stack is the library's own call of fork."
    return None, None


def _has(process: Process, calls: Tuple[Call, ...]) -> bool:
    frames: Tuple[Frame, ...] = tuple(
        frame for thread in process.threads if not thread.ghost for frame in thread.python + thread.native
    )
    return any(matches(call, frame) for call in calls for frame in frames)

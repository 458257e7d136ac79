"""Whether a process was made by fork or started anew by exec, why, and whether its parent is the one that forked it.

The kernel marks a process at fork and takes the mark away at exec. Where a record has no such mark, the places of
stack, heap and environment tell: the kernel draws them anew at each exec, and fork copies them. Of a saved text the
stack may tell.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Optional, Tuple

from forkhang_ipy.analysis.frames import matches
from forkhang_ipy.knowledge.calls import Call
from forkhang_ipy.knowledge.forks import FORKED, IN_FORK, STARTED_ANEW, STARTED_ANEW_COMMAND
from forkhang_ipy.model import Dump, Frame, Process

ENOUGH = 3
"""This many equal places are no chance."""
INIT = 1
"""It takes in orphans, whose own parent is gone: unlike its layout means nothing."""
Answer = Tuple[Optional[bool], Optional[str]]


def with_ancestry(dump: Dump) -> Dump:
    """The same dump, in which each process knows whether it was forked."""
    return replace(dump, processes=tuple(_told(process, dump) for process in dump.processes))


def origin(process: Process, dump: Dump) -> Optional[Process]:
    """The parent that this process was forked from; None where it was not seen, or only took in an orphan."""
    parent = dump.process(process.parent)
    live = dump.target is not None
    if parent is None or not process.forked or not live:
        return parent
    return parent if _same_layout(process, parent) else None


def _told(process: Process, dump: Dump) -> Process:
    parent = dump.process(process.parent)
    answers = (_by_mark(process, parent), _by_layout(process, parent), _by_stack(process), _anew(process, parent))
    for forked, why in answers:
        if forked is not None:
            return replace(process, forked=forked, forked_why=why)
    return process


def _by_mark(process: Process, parent: Optional[Process]) -> Answer:
    if process.marked_forked:
        alike = parent is not None and _same_layout(process, parent)
        like = f", and its memory is laid out like that of its parent {process.parent}" if alike else ""
        return True, f"The kernel has it marked as forked and not exec'd since{like}."
    if process.marked_forked is False:
        return False, "The kernel does not have it marked as forked: it was started anew by exec."
    return None, None


def _by_layout(process: Process, parent: Optional[Process]) -> Answer:
    if parent is None or not _same_layout(process, parent):
        return None, None
    why = f"Its stack, heap and environment lie at the same random addresses as those of its parent {parent.pid}"
    return True, f"{why}: it was forked, and no exec came after."


def _anew(process: Process, parent: Optional[Process]) -> Answer:
    if parent is None or parent.pid == INIT or not _comparable(process, parent):
        return None, None
    return False, f"Its memory is laid out unlike that of its parent {parent.pid}: it was started anew by exec."


def _same_layout(process: Process, parent: Optional[Process]) -> bool:
    return parent is not None and _comparable(process, parent) and process.layout == parent.layout


def _comparable(process: Process, parent: Process) -> bool:
    return min(len(process.layout), len(parent.layout)) >= ENOUGH


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

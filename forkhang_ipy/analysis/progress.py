"""Does a thread move? Told from two or more looks at it."""

from __future__ import annotations

from enum import Enum
from typing import Optional, Tuple

from forkhang_ipy.analysis.frames import is_plumbing
from forkhang_ipy.model import Frame, Sample, Thread, WaitKind

ENOUGH = 2
"""Looks that can be compared."""
UNSETTLED = 3
"""A spin may be caught at this many different innermost frames."""


class Progress(Enum):
    """What two looks at a thread show."""

    STILL = "the same wait, no cpu used"
    SPINNING = "cpu used, in the same frames"
    MOVING = "it moves"


def progress(thread: Thread) -> Optional[Progress]:
    """How this thread moves, or None where there were no two looks."""
    looks = [sample for sample in thread.samples if sample.cpu_ticks is not None]
    if len(looks) < ENOUGH:
        return None
    first, last = looks[0], looks[-1]
    if _slept(first, last):
        return Progress.STILL
    stacks = [sample.native for sample in thread.samples if sample.native]
    burns = first.cpu_ticks != last.cpu_ticks
    if burns and len(stacks) > 1 and all(_same_place(stacks[0], stack) for stack in stacks[1:]):
        return Progress.SPINNING
    return Progress.MOVING


def retries(thread: Thread) -> bool:
    """Whether it wakes only to wait for the very same lock again, and does no work in between."""
    looks = [sample for sample in thread.samples if sample.cpu_ticks is not None]
    words = {sample.wait.address for sample in looks if sample.wait is not None}
    kinds = {sample.wait.kind for sample in looks if sample.wait is not None}
    idle = len({sample.cpu_ticks for sample in looks}) == 1
    still_a_lock = thread.wait is not None and thread.wait.kind is WaitKind.LOCK
    return len(looks) >= ENOUGH and idle and still_a_lock and kinds == {WaitKind.LOCK} and len(words - {None}) == 1


def _slept(first: Sample, last: Sample) -> bool:
    """It did not run in between: the kernel counts each switch."""
    if first.cpu_ticks != last.cpu_ticks or first.wait != last.wait:
        return False
    return first.switches == last.switches


def _same_place(one: Tuple[Frame, ...], other: Tuple[Frame, ...]) -> bool:
    """The same calls, up to the innermost ones of the same library: a spin is caught anywhere in its loop."""
    common = 0
    for mine, its in zip(one[::-1], other[::-1]):
        if (mine.function, mine.module) != (its.function, its.module):
            break
        common += 1
    rest = one[: len(one) - common] + other[: len(other) - common]
    modules = {frame.module for frame in rest if not is_plumbing(frame)}
    return common > 0 and len(rest) <= 2 * UNSETTLED and len(modules) <= 1

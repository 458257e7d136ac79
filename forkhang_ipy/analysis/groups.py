"""`Dump` in; threads with identical stacks put together out, over processes and ranks, and which are the odd ones out.

Stacks are identical where every call is the same function at the same place; addresses and variables do not count. A
thread's Python stack stands for it, else its native one. Ghosts are left out: they are the parent's threads.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from forkhang_ipy.model import Dump, Frame, Group, Process, Thread

MAIN = "MainThread"
ENOUGH = 3
"""In so many processes there may be an odd one out."""
Seat = Tuple[int, int]
"""Place of the process in `Dump.processes`, and of the thread in `Process.threads`."""


def groups(dump: Dump, *, native: bool = False) -> Tuple[Group, ...]:
    """The groups, the largest first. With `native`, the native stacks must be the same as well."""
    calls = Calls()
    alike: Dict[Tuple[object, ...], List[Seat]] = {}
    for (at, place), thread in live_threads(dump):
        numbers = calls.numbers(stack_of(thread))
        beside = calls.numbers(thread.native) if native else ()
        alike.setdefault((role(dump.processes[at], thread), numbers, beside), []).append((at, place))
    found = [_group(dump, str(key[0]), seats) for key, seats in alike.items()]
    return tuple(sorted(_with_odd(found), key=lambda group: -group.count))


def live_threads(dump: Dump) -> Iterator[Tuple[Seat, Thread]]:
    """Every thread that has a stack and is no ghost, with its seat."""
    for at, process in enumerate(dump.processes):
        for place, thread in enumerate(process.threads):
            if (thread.python or thread.native) and not thread.ghost:
                yield (at, place), thread


def stack_of(thread: Thread) -> Tuple[Frame, ...]:
    """The stack that stands for the thread."""
    return thread.python or thread.native


def role(process: Process, thread: Thread) -> str:
    """What kind of thread it is, the same in every process."""
    is_main = thread.tid is not None and thread.tid == process.pid
    if is_main or thread.name == MAIN or len(process.threads) == 1:
        return MAIN
    return re.sub(r"[\d_: -]*\d", "", thread.name or "") or "thread"


def ranges(numbers: Iterable[Optional[int]]) -> Optional[str]:
    """Numbers in order, consecutive ones as `0-2`; None where there is none."""
    runs: List[List[int]] = []
    for number in sorted({number for number in numbers if number is not None}):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs) or None


def alike(frame: Frame) -> Frame:
    """The call without what differs between two processes that do the same."""
    return replace(frame, address=None if frame.function else frame.address, locals=(), source=None)


class Calls:
    """Each call gets a number, the same for the same call; the frames must live as long as this does."""

    def __init__(self, call_of: Callable[[Frame], Frame] = alike) -> None:
        self._call_of = call_of
        self._of_object: Dict[int, int] = {}
        self._of_call: Dict[Frame, int] = {}
        self.frames: List[Frame] = []
        """The call behind each number."""

    def numbers(self, frames: Sequence[Frame]) -> Tuple[int, ...]:
        """The numbers of these frames, in their order."""
        known = self._of_object
        return tuple(known[id(frame)] if id(frame) in known else self._new(frame) for frame in frames)

    def _new(self, frame: Frame) -> int:
        call = self._call_of(frame)
        number = self._of_call.setdefault(call, len(self.frames))
        if number == len(self.frames):
            self.frames.append(call)
        self._of_object[id(frame)] = number
        return number


def _group(dump: Dump, name: str, seats: Sequence[Seat]) -> Group:
    at, place = seats[0]
    processes = [dump.processes[one] for one in dict.fromkeys(at for at, _ in seats)]
    return Group(
        stack=tuple(map(alike, stack_of(dump.processes[at].threads[place]))),
        role=name,
        threads=tuple(seats),
        processes=len(processes),
        ranks=ranges(process.rank for process in processes),
        pids=ranges(process.pid for process in processes),
        odd=False,
    )


def _with_odd(found: Sequence[Group]) -> Iterator[Group]:
    largest: Dict[str, int] = {}
    everyone: Dict[str, int] = {}
    for group in found:
        largest[group.role] = max(largest.get(group.role, 0), group.processes)
        everyone[group.role] = everyone.get(group.role, 0) + group.processes
    for group in found:
        is_odd = everyone[group.role] >= ENOUGH and 2 * group.processes < largest[group.role]
        yield replace(group, odd=is_odd)

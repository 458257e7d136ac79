"""Pids in, `stacks/1` records of their native stacks out: all are unwound and let go first, and named afterwards.

It runs in an interpreter apart, so that it can be ended by force, and so that no other thread of ours that waits for
a child takes the stop of that child for its end. Only where the kernel would refuse that one does it run here.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from typing import Dict, List, Optional, Sequence, Tuple

from forkhang_ipy.capture import apart, stacks
from forkhang_ipy.capture.libdw import FRAMES, Session
from forkhang_ipy.capture.sources import Limits, SourceFailed, run
from forkhang_ipy.capture.symbols import Names, Place

SOURCE = "libdw"

_GLANCE = 0.02
_LONGER = "Give it longer with --timeout."
_NO_NAMES = "some functions were left unnamed: finding their names took too long"


@dataclass(frozen=True)
class Round:
    """Processes that are unwound one after the other, and the number of that sample."""

    sample: int
    pids: Tuple[int, ...]


@dataclass(frozen=True)
class Unwound:
    """The records, and for each process that gave none the reason and the way out."""

    records: Tuple[str, ...]
    failures: Dict[int, Tuple[str, str]]


@dataclass
class _Stack:
    """The threads of one process, as addresses."""

    pid: int
    sample: int
    threads: Dict[int, List[Tuple[int, int]]]
    places: Dict[int, Place]


@dataclass
class _Progress:
    """What the unwinding thread has come to; the thread that waits for it reads this."""

    stacks: List[_Stack] = field(default_factory=list)
    failures: Dict[int, Tuple[str, str]] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    at: Optional[Tuple[int, float]] = None
    """The pid at hand, and since when."""


def unwind(rounds: Sequence[Round], interval: float, limits: Limits, *, here: bool = False) -> Unwound:
    """The native stacks of all these processes, `interval` seconds between the rounds."""
    if here:
        return unwind_here(rounds, interval, limits)
    job = {"rounds": [asdict(each) for each in rounds], "interval": interval, "timeout": limits.timeout}
    seconds = interval * len(rounds) + limits.timeout * (1 + sum(len(each.pids) for each in rounds))
    output = run(apart.command(__name__, job), limits, seconds=seconds)
    if output.code:
        last = (output.stderr.strip().splitlines() or [f"it ended with status {output.code}"])[-1]
        raise SourceFailed(f"libdw: {last}", "Please report this; gdb, where it is installed, is asked instead.")
    answer = json.loads(output.stdout)
    failures = {int(pid): (why, hint) for pid, (why, hint) in answer["failures"].items()}
    return Unwound(tuple(answer["records"]), failures)


def main(job: str) -> None:
    """What the interpreter apart does: print the answer as JSON."""
    asked = json.loads(job)
    # Every library of every process is an open file for a while.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    rounds = [Round(each["sample"], tuple(each["pids"])) for each in asked["rounds"]]
    sys.stdout.write(json.dumps(asdict(unwind_here(rounds, asked["interval"], Limits(asked["timeout"])))))


def unwind_here(rounds: Sequence[Round], interval: float, limits: Limits) -> Unwound:
    """The same in this process; a task that holds us up beyond the time limit is left behind, with its thread."""
    progress = _Progress()
    worker = threading.Thread(
        target=_work, args=(progress, rounds, interval, limits), name="forkhang-unwind", daemon=True
    )
    worker.start()
    while worker.is_alive():
        worker.join(_GLANCE)
        at = progress.at
        if at and time.monotonic() - at[1] > limits.timeout:
            _abandon(progress, at[0], rounds)
            break
    limits.pause(0)
    complete = progress.names.find(limits.timeout)
    note = None if complete else _NO_NAMES
    return Unwound(tuple(_record(stack, progress.names, note) for stack in progress.stacks), progress.failures)


def _abandon(progress: _Progress, culprit: int, rounds: Sequence[Round]) -> None:
    """Note the process that held us up, and those whose turn never came."""
    seen = {stack.pid for stack in progress.stacks} | set(progress.failures)
    for pid in {pid for each in rounds for pid in each.pids} - seen:
        progress.failures[pid] = (f"libdw: it was held up by process {culprit}", _LONGER)
    progress.failures[culprit] = ("libdw: it did not end within its time limit", _LONGER)


def _work(progress: _Progress, rounds: Sequence[Round], interval: float, limits: Limits) -> None:
    """Unwind them all, on one thread, which no signal may disturb: a broken wait would leave a task stopped."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    for number, each in enumerate(rounds):
        if number:
            limits.given_up.wait(interval)
        for pid in each.pids:
            if limits.given_up.is_set():
                return
            progress.at = (pid, time.monotonic())
            try:
                progress.stacks.append(_unwound(pid, each.sample, progress.names))
            except SourceFailed as failure:
                progress.failures[pid] = (failure.why, failure.hint)
            progress.at = None


def _unwound(pid: int, sample: int, names: Names) -> _Stack:
    session = Session(pid)
    try:
        threads = session.unwind()
    except SourceFailed:
        session.close()
        raise
    places = names.note(pid, session, (lookup for frames in threads.values() for _, lookup in frames))
    return _Stack(pid, sample, threads, places)


def _record(stack: _Stack, names: Names, note: Optional[str]) -> str:
    threads = [_thread(tid, frames, stack.places, names) for tid, frames in stack.threads.items()]
    notes = [note] if note else []
    silent = sorted(tid for tid, frames in stack.threads.items() if not frames)
    if silent:
        notes.append("no stack could be unwound for task " + ", ".join(map(str, silent)))
    cut = sorted(tid for tid, frames in stack.threads.items() if len(frames) == FRAMES)
    if cut:
        notes.append(f"only the {FRAMES} innermost frames were taken of task " + ", ".join(map(str, cut)))
    return stacks.record(stack.pid, stack.sample, SOURCE, threads, note="; ".join(notes) or None)


def _thread(tid: int, frames: List[Tuple[int, int]], places: Dict[int, Place], names: Names) -> stacks.ThreadRecord:
    native = [_frame(pc, places.get(lookup), names) for pc, lookup in frames]
    return stacks.ThreadRecord(tid=tid, ident=None, name=None, gil=None, python=[], native=native)


def _frame(pc: int, place: Optional[Place], names: Names) -> stacks.NativeFrame:
    return stacks.NativeFrame(
        function=names.name(place) if place else None, module=place[1] if place else None, address=hex(pc)
    )

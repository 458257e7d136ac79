"""Which of many small dumps are alike in every frame and wait, but for their numbers; one's diagnosis told of another.

The ranks of a job hang in few ways, and so a few of them tell all. Only what stacks alone tell is handed on: a dump
with memory, samples or layouts of its own is looked at by itself. Evidence that is handed on says where it comes from.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Dict, Iterator, List, Optional, Tuple

from forkhang_ipy.analysis.groups import Calls
from forkhang_ipy.model import Diagnosis, Dump, Evidence, Finding, Frame, Lock, Owner, Process, Thread, Wait

DIGITS = re.compile(r"\d+")
Shape = Tuple[object, ...]
Numbers = Dict[Optional[int], Optional[int]]
"""Each pid, TID and pthread id of the one, and what it is in the other."""


class Shapes:
    """The shape of each dump that is seen: twins have the same."""

    def __init__(self) -> None:
        self._calls = Calls(_call)

    def of(self, dump: Dump) -> Optional[Shape]:
        """All that stacks tell, with numbers only as far as they are the same; None where there is more than that."""
        if any(_tells_more(process) for process in dump.processes):
            return None
        seen: Dict[Optional[int], int] = {None: -1}
        return tuple(self._process(process, seen) for process in dump.processes)

    def _process(self, process: Process, seen: Dict[Optional[int], int]) -> Shape:
        numbers = tuple(seen.setdefault(number, len(seen)) for number in _numbers(process))
        threads = tuple(self._thread(thread) for thread in process.threads)
        bare = replace(process, pid=None, parent=None, tasks=None, threads=(), command=None, label=None, rank=None)
        words = _without_digits(process.command), _without_digits(process.label)
        return numbers, process.tasks is None, threads, replace(bare, host=None), words

    def _thread(self, thread: Thread) -> Shape:
        wait = None if thread.wait is None else replace(thread.wait, target=None)
        facts = (wait, thread.state, thread.holds_gil, thread.ghost, thread.error, thread.active)
        stacks = self._calls.numbers(thread.python), self._calls.numbers(thread.native)
        return (*stacks, _without_digits(thread.name), *facts)


def told_of(dump: Dump, found: Diagnosis) -> Diagnosis:
    """The diagnosis of one dump, told of its twin."""
    pairs = list(zip(found.dump.processes, dump.processes))
    numbers = {
        old: new for its, process in pairs for old, new in zip(_numbers(_as_seen(its, process)), _numbers(process))
    }
    threads = {
        id(one): thread for its, process in pairs for one, thread in zip(its.threads, _seen(its, process, numbers))
    }
    return replace(
        found,
        findings=tuple(_finding(finding, numbers, _twin(finding, found, threads)) for finding in found.findings),
        stuck=tuple((numbers.get(pid, pid), numbers.get(tid, tid)) for pid, tid in found.stuck),
        dump=replace(
            dump,
            processes=tuple(
                replace(
                    process,
                    forked=its.forked,
                    forked_why=its.forked_why,
                    threads=tuple(threads[id(one)] for one in its.threads),
                )
                for its, process in pairs
            ),
        ),
    )


# --- shapes ----------------------------------------------------------------------------------------------------------


def _call(frame: Frame) -> Frame:
    """A call as far as a diagnosis reads it."""
    return replace(frame, address=None if frame.function else frame.address, locals=())


def _tells_more(process: Process) -> bool:
    more = process.layout or process.memory or process.objects or process.files
    return bool(more) or any(thread.samples or thread.stack for thread in process.threads)


def _numbers(process: Process) -> Iterator[Optional[int]]:
    """Every number that is drawn anew in each process, always in the same order."""
    yield process.pid
    yield process.parent
    yield from process.tasks or ()
    for thread in process.threads:
        yield from (thread.ident, thread.tid, thread.inner_tid, thread.mutex_owner)
        yield thread.wait.target if thread.wait is not None else None


def _without_digits(words: Optional[str]) -> Optional[str]:
    return None if words is None else DIGITS.sub("#", words)


# --- telling ---------------------------------------------------------------------------------------------------------


def _as_seen(its: Process, process: Process) -> Process:
    """The diagnosed process with the waits that it had before: what a stack tells came later."""
    waits = [thread.wait for thread in process.threads]
    threads = [one if wait is not None else replace(one, wait=None) for one, wait in zip(its.threads, waits)]
    return replace(its, threads=tuple(threads))


def _seen(its: Process, process: Process, numbers: Numbers) -> List[Thread]:
    """The threads of the twin, with what the diagnosis read out of their stacks."""
    return [
        thread if one.wait is None else replace(thread, wait=_wait(one, numbers))
        for one, thread in zip(its.threads, process.threads)
    ]


def _wait(one: Thread, numbers: Numbers) -> Optional[Wait]:
    return None if one.wait is None else replace(one.wait, target=numbers.get(one.wait.target, one.wait.target))


def _twin(finding: Finding, found: Diagnosis, threads: Dict[int, Thread]) -> Thread:
    at = next(
        (one for process in found.dump.processes for one in process.threads if one is finding.thread), finding.thread
    )
    return threads.get(id(at), finding.thread)


def _finding(finding: Finding, numbers: Numbers, thread: Thread) -> Finding:
    where = "" if finding.process is None else f" in {finding.process}"
    first, rest = finding.evidence[:1], finding.evidence[1:]
    evidence = tuple(Evidence(f"As{where}: {one.sentence}", one.frames) for one in first) + rest
    process = numbers.get(finding.process, finding.process)
    return replace(finding, process=process, thread=thread, lock=_lock(finding.lock, numbers), evidence=evidence)


def _lock(lock: Optional[Lock], numbers: Numbers) -> Optional[Lock]:
    if lock is None:
        return None
    return replace(
        lock,
        owner_tid=numbers.get(lock.owner_tid, lock.owner_tid),
        owner_ident=numbers.get(lock.owner_ident, lock.owner_ident),
        owner=None if lock.owner is None else _owner(lock.owner, numbers),
        candidates=tuple(_owner(one, numbers) for one in lock.candidates),
    )


def _owner(owner: Owner, numbers: Numbers) -> Owner:
    return replace(owner, process=numbers.get(owner.process, owner.process))

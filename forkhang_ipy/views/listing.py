"""The short list of threads: stuck first, those that wait for them, ghosts, the well.

In goes a `Diagnosis`, out come groups of lines; threads of several processes that say the same share one line, with
their pids as ranges. Every thread is in exactly one line, and so is every process without threads; only the shell or
notebook that started the target is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

from forkhang_ipy.model import Diagnosis, Process, Thread, Verdict, WaitKind
from forkhang_ipy.views.names import shown_file
from forkhang_ipy.views.words import process_words, thread_words, wait_words

STUCK = "Stuck"
WAITING = "Waiting for it"
WAITING_FOR_NOBODY_STUCK = "Waiting"
FOUND = "Found"
DEAD = "Dead"
UNSEEN = "Not seen"
OTHERS = "Others"
WELL = "Well"
SIGN = {STUCK: "⊘", FOUND: "◇", WAITING: "→", DEAD: "✗", UNSEEN: "?", OTHERS: "·", WELL: "✓"}
LAST = (DEAD, UNSEEN, OTHERS, WELL)
GHOST_SIGN = "◌"
CROWD = 8
"""Among more processes than these, `Thread-1` and `Thread-2` are one kind of thread."""
NUMBER = re.compile(r"-\d+\b")
TO = "\u2013"
"""Stands between the first and the last of a range."""
WAITS_FOR_ANOTHER = frozenset({WaitKind.CHILD, WaitKind.PIPE_READ, WaitKind.PIPE_WRITE, WaitKind.POLL, WaitKind.THREAD})


@dataclass(frozen=True)
class Member:
    """A thread and its process; a process without threads stands for itself."""

    process: Process
    thread: Optional[Thread]


@dataclass(frozen=True)
class Line:
    """What one or more threads have in common."""

    sign: str
    pids: str
    """`1690 to 1717`, with a dash; empty among ghosts, whose group names the process."""
    name: str
    note: str
    members: Tuple[Member, ...]


@dataclass(frozen=True)
class Group:
    """Lines under one heading."""

    heading: str
    lines: Tuple[Line, ...]


def listing(diagnosis: Diagnosis) -> Tuple[Group, ...]:
    """The groups that have members: stuck, found, waiting, ghosts process by process, dead, not seen, the rest."""
    found: Dict[str, List[Member]] = {STUCK: [], FOUND: [], WAITING: []}
    for process in diagnosis.dump.processes:
        if _is_bystander(diagnosis, process):
            continue
        for member in [Member(process, thread) for thread in process.threads] or [Member(process, None)]:
            found.setdefault(heading(diagnosis, member), []).append(member)
    found[STUCK].sort(key=lambda member: not _is_found(diagnosis, member))
    in_order = [name for name in found if name not in LAST] + [name for name in LAST if name in found]
    shown = {WAITING: WAITING if found[STUCK] else WAITING_FOR_NOBODY_STUCK}
    crowded = len(diagnosis.dump.processes) > CROWD
    return tuple(
        Group(shown.get(name, name), _lines(name, found[name], crowded=crowded)) for name in in_order if found[name]
    )


def heading(diagnosis: Diagnosis, member: Member) -> str:
    """The group that a thread belongs to. Where the answer is open, nobody is called well."""
    process, thread = member.process, member.thread
    if thread is None:
        return DEAD if process.ended or process.state == "Z" else UNSEEN
    if thread.ghost:
        return "Ghosts" if process.pid is None else f"Ghosts in {process.pid}"
    if not _is_stuck(diagnosis, member):
        return _heading_of_unstuck(diagnosis, member)
    waits_for_another = thread.wait is not None and thread.wait.kind in WAITS_FOR_ANOTHER
    passes_on = waits_for_another or _passes_on(diagnosis, member)
    return WAITING if passes_on and not _is_found(diagnosis, member) else STUCK


def _heading_of_unstuck(diagnosis: Diagnosis, member: Member) -> str:
    if diagnosis.verdict is Verdict.NOT_HUNG:
        return WELL
    if _is_found(diagnosis, member):
        return STUCK if diagnosis.verdict is Verdict.FORK_DEADLOCK else FOUND
    if _passes_on(diagnosis, member):
        return WAITING
    return OTHERS if diagnosis.verdict is Verdict.INCONCLUSIVE else WELL


def _is_bystander(diagnosis: Diagnosis, process: Process) -> bool:
    """The parent of the target is no part of it where the target was not forked from it: a shell, a notebook."""
    target = diagnosis.dump.process(diagnosis.dump.target)
    return target is not None and target.forked is False and process.pid == target.parent


def ranges(pids: Iterable[Optional[int]]) -> str:
    """Pids in order, consecutive ones as a range with a dash."""
    runs: List[List[int]] = []
    for pid in sorted({pid for pid in pids if pid is not None}):
        if runs and pid == runs[-1][-1] + 1:
            runs[-1].append(pid)
        else:
            runs.append([pid])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}{TO}{run[-1]}" for run in runs)


def _is_found(diagnosis: Diagnosis, member: Member) -> bool:
    """Whether a finding says something of this thread; that a parent waits for its child says nothing of the parent."""
    if member.thread is None:
        return False
    findings = diagnosis.findings_of(member.process.pid, member.thread)
    return any(finding.verdict is not Verdict.INCONCLUSIVE for finding in findings)


def _is_stuck(diagnosis: Diagnosis, member: Member) -> bool:
    """A thread without a TID cannot be told from its fellows; it counts where it is named in a finding or alone."""
    pid, thread = member.process.pid, member.thread
    if thread is None or not diagnosis.is_stuck(pid, thread.tid):
        return False
    alone = len([one for one in member.process.threads if one.tid is None and not one.ghost]) == 1
    return thread.tid is not None or alone or any(finding.thread == thread for finding in diagnosis.findings)


def _passes_on(diagnosis: Diagnosis, member: Member) -> bool:
    tid = member.thread.tid if member.thread is not None else None
    return any(
        link.waits_for is not None and (link.process, link.tid) == (member.process.pid, tid) for link in diagnosis.chain
    )


def _lines(name: str, members: Sequence[Member], *, crowded: bool) -> Tuple[Line, ...]:
    alike: Dict[Tuple[str, str], List[Member]] = {}
    for member in members:
        called = NUMBER.sub("-N", _name(member)) if crowded else _name(member)
        alike.setdefault((called, _note(name, member)), []).append(member)
    return tuple(_line(name, key, tuple(group)) for key, group in alike.items())


def _line(group: str, key: Tuple[str, str], members: Tuple[Member, ...]) -> Line:
    name, note = key
    processes = len({id(member.process) for member in members})
    many = f"{processes} processes" if processes > 1 else f"{len(members)} threads"
    ghosts = group not in SIGN
    return Line(
        sign=SIGN.get(group, GHOST_SIGN),
        pids="" if ghosts else _pids(members),
        name=f"{name}, {many}" if len(members) > 1 else name,
        note=note,
        members=members,
    )


def _pids(members: Sequence[Member]) -> str:
    """Their pids; of several ranks their ranks: on different machines these may share a pid."""
    numbers = [member.process.rank for member in members]
    if len(set(numbers)) > 1 and None not in numbers:
        return f"ranks {ranges(numbers)}"
    return ranges(member.process.pid for member in members) or "?"


def _name(member: Member) -> str:
    if member.thread is None:
        return "" if member.process.command is None else shown_file(member.process.command.split(" ")[0])
    return thread_words(member.thread) if member.thread.name else "thread"


def _note(group: str, member: Member) -> str:
    thread = member.thread
    if thread is None:
        return process_words(member.process)
    innermost = next((frame for frame in thread.python if frame.function), None)
    where = "" if innermost is None else _where(innermost.function or "", innermost.file)
    if thread.ghost:
        return f"at the fork: {where}" if where else "not copied by fork"
    in_words = wait_words(thread.wait, how_long=group not in {WELL, OTHERS})
    return in_words or (f"in {where}" if where else "")


def _where(function: str, file: Optional[str]) -> str:
    """`queue.get`."""
    stem = "" if file is None else shown_file(file).split("/")[-1].split(".py")[0]
    return f"{stem}.{function}" if stem and "<" not in stem else function

"""Which parts of a dump are of one process: parts go in, one after the other; groups come out.

Parts with the same pid are one process, unless they come from different hosts or ranks; parts with different pids
never are: a parent and its forked child share pthread ids. A part without a pid belongs where its threads are: by TID,
else by pthread id where one process alone has it. Where the same thread would have two TIDs, or two different Python
stacks, it is another process.
"""

from __future__ import annotations

from typing import Dict, Iterator, List, Optional, Tuple

from forkhang_ipy.model import Process, Thread

Key = Tuple[str, int]
Place = Tuple[Optional[int], Optional[str]]
"""Rank and host; None fits any."""
ANY = -1
"""Stands for a rank of any number, where the part that is looked for has none."""
NEAR = 50
"""A number that comes again and again is looked for in this many places."""


class Book:
    """The groups so far, and where each thread's number was seen."""

    def __init__(self) -> None:
        self.groups: List[List[Process]] = []
        self._places: List[Place] = []
        """Rank and host of each group, as far as a part of it says."""
        self._of_pid: Dict[int, List[int]] = {}
        self._exactly: Dict[Tuple[Optional[int], Place], int] = {}
        self._of_thread: Dict[Tuple[Key, Optional[int]], List[Tuple[int, Optional[Thread]]]] = {}

    def add(self, part: Process) -> None:
        """Put this part where it belongs. Parts with a pid come before those without."""
        at = self._by_pid(part) if part.pid is not None else self._by_threads(part)
        if at is None:
            at = len(self.groups)
            self.groups.append([])
            self._places.append(place(part))
            if part.pid is not None:
                self._of_pid.setdefault(part.pid, []).append(at)
        self.groups[at].append(part)
        rank, host = self._places[at]
        self._places[at] = (part.rank if rank is None else rank, host or part.host)
        self._exactly[part.pid, self._places[at]] = at
        if part.pid is None:
            self._note(at, part)

    def note_threads(self) -> None:
        """Note where the threads are of all that was added: those without a pid are then found by them."""
        for at, group in enumerate(self.groups):
            for part in group:
                self._note(at, part)

    def _note(self, at: int, part: Process) -> None:
        for key, thread in _keys(part):
            for rank in {part.rank, ANY}:
                self._of_thread.setdefault((key, rank), []).append((at, thread))

    def _by_pid(self, part: Process) -> Optional[int]:
        """The group with this pid and of this host and rank, else the only one that may be."""
        exact = self._exactly.get((part.pid, place(part)))
        if exact is not None:
            return exact
        fitting = [at for at in self._of_pid.get(part.pid or 0, ()) if fits(place(part), self._places[at])]
        return fitting[0] if len(fitting) == 1 else None

    def _by_threads(self, part: Process) -> Optional[int]:
        """The group whose threads this part has."""
        seen = [(thread, self._homes(thread, part)) for thread in part.threads]
        for thread, _ in seen:
            by_tid = self._known("tid", thread.tid, thread, part)
            if by_tid:
                return by_tid[0]
        for _, homes in seen:
            if len(set(homes)) == 1:
                return homes[0]
        return None

    def _homes(self, thread: Thread, part: Process) -> List[int]:
        """Groups that have this pthread id; those that a person calls by another name are others."""
        homes = self._known("ident", thread.ident, thread, part)
        return [at for at in homes if not _named_apart(part, self.groups[at])]

    def _known(self, kind: str, number: Optional[int], thread: Thread, part: Process) -> List[int]:
        if number is None:
            return []
        ranks = (ANY,) if part.rank is None else (None, part.rank)
        found = [seen for rank in ranks for seen in self._of_thread.get(((kind, number), rank), [])[-NEAR:]]
        return [
            at
            for at, other in found
            if (other is None or _may_be_same(thread, other)) and fits(place(part), self._places[at])
        ]


def place(process: Process) -> Place:
    """Where a process ran."""
    return process.rank, process.host


def fits(one: Place, other: Place) -> bool:
    """Whether nothing says that these are different hosts or ranks."""
    return all(mine is None or its is None or mine == its for mine, its in zip(one, other))


def _keys(part: Process) -> Iterator[Tuple[Key, Optional[Thread]]]:
    listed = {thread.tid for thread in part.threads}
    for tid in (part.pid, *(part.tasks or ())):
        if tid is not None and tid not in listed:
            yield ("tid", tid), None
    for thread in part.threads:
        if thread.tid is not None:
            yield ("tid", thread.tid), thread
        if thread.ident is not None:
            yield ("ident", thread.ident), thread


def _may_be_same(one: Thread, other: Thread) -> bool:
    if one.tid is not None and other.tid is not None and one.tid != other.tid:
        return False
    return not (one.python and other.python and one.python != other.python)


def _named_apart(part: Process, group: List[Process]) -> bool:
    labels = {process.label for process in group if process.label}
    return bool(part.label and labels and part.label not in labels)

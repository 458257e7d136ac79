"""`Dump` in, one `Diagnosis` of the whole out, where the processes are of several hosts or ranks, or very many.

A process can only wait for one that it knows: its parent and children, and those that share a pipe or a semaphore with
it. What knows nothing of each other is an island, and diagnosed by itself: pids mean nothing beyond it. The gravest
answer is that of the whole.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from forkhang_ipy.analysis import diagnose as one_island
from forkhang_ipy.analysis import twins
from forkhang_ipy.analysis.groups import ranges
from forkhang_ipy.model import Diagnosis, Dump, Process, Remedy

MANY = 50
"""Above so many processes, those without host and rank are parted, too: time grows with the square of an island."""
Place = Tuple[Optional[int], Optional[str]]
NOWHERE: Place = (None, None)


def diagnose(dump: Dump) -> Diagnosis:
    """What this dump shows, and what proves it."""
    islands = _islands(dump)
    if len(islands) <= 1:
        return one_island.diagnose(dump)
    found = list(_diagnosed([_island(dump, members) for members in islands]))
    order = sorted(range(len(found)), key=lambda at: _gravity(found[at]))
    first = found[order[0]]
    seen = {at: process for members, one in zip(islands, found) for at, process in zip(members, one.dump.processes)}
    return replace(
        first,
        summary=_summary(first, [found[at] for at in order[1:]]),
        findings=tuple(finding for at in order for finding in found[at].findings),
        stuck=tuple(dict.fromkeys(node for at in order for node in found[at].stuck)),
        remedies=tuple(_remedies([found[at] for at in order])),
        dump=replace(dump, processes=tuple(seen[at] for at in range(len(dump.processes)))),
    )


def _diagnosed(islands: Sequence[Dump]) -> Iterator[Diagnosis]:
    """Each island's diagnosis; of islands that are alike but for their numbers, the first is looked at."""
    shapes = twins.Shapes()
    known: Dict[Optional[twins.Shape], Diagnosis] = {}
    for island in islands:
        shape = shapes.of(island)
        if shape is not None and shape in known:
            yield twins.told_of(island, known[shape])
            continue
        found = one_island.diagnose(island)
        if shape is not None:
            known[shape] = found
        yield found


# --- which are by themselves -----------------------------------------------------------------------------------------


def _islands(dump: Dump) -> List[List[int]]:
    """Places of the processes that belong together, in the order of their first ones."""
    everywhere = {_place(process) for process in dump.processes}
    if dump.target is not None or (len(everywhere) <= 1 and len(dump.processes) <= MANY):
        return [list(range(len(dump.processes)))]
    heads = list(range(len(dump.processes)))
    for one, other in _bridges(dump):
        _unite(heads, one, other)
    islands: Dict[int, List[int]] = {}
    for at in range(len(heads)):
        islands.setdefault(_head(heads, at), []).append(at)
    return list(islands.values())


def _bridges(dump: Dump) -> Iterator[Tuple[int, int]]:
    """Pairs of places of processes that know each other."""
    first: Dict[Place, int] = {}
    of_pid: Dict[Optional[int], List[int]] = {}
    nowhere = sum(1 for process in dump.processes if _place(process) == NOWHERE)
    for at, process in enumerate(dump.processes):
        of_pid.setdefault(process.pid, []).append(at)
        if _place(process) != NOWHERE or nowhere <= MANY:
            yield first.setdefault(_place(process), at), at
    for at, process in enumerate(dump.processes):
        parents = of_pid.get(process.parent, []) if process.parent is not None else []
        yield from ((parent, at) for parent in parents if _fit(dump.processes[parent], process))
    shared = [[pid for pid, _ in ends.ends] for ends in dump.ends] + [list(one.pids) for one in dump.sharers]
    for pids in shared:
        known = [at for pid in pids for at in of_pid.get(pid, ())]
        yield from ((known[0], at) for at in known[1:])


def _place(process: Process) -> Place:
    return process.rank, process.host


def _fit(one: Process, other: Process) -> bool:
    return one.host is None or other.host is None or one.host == other.host


def _head(heads: List[int], at: int) -> int:
    while heads[at] != at:
        heads[at] = heads[heads[at]]
        at = heads[at]
    return at


def _unite(heads: List[int], one: int, other: int) -> None:
    low, high = sorted((_head(heads, one), _head(heads, other)))
    heads[high] = low


def _island(dump: Dump, members: Sequence[int]) -> Dump:
    """The dump of these processes alone; a line that nobody could read may be of any of them, so it is of none."""
    return replace(dump, processes=tuple(dump.processes[at] for at in members), gaps=(), unread=())


# --- the answer of the whole -----------------------------------------------------------------------------------------


def _gravity(found: Diagnosis) -> Tuple[int, int]:
    return one_island.WEIGHT.index(found.verdict), one_island.SURE.index(found.confidence)


def _summary(first: Diagnosis, others: Sequence[Diagnosis]) -> str:
    """The gravest island's sentence, where it is, and where else the same was found."""
    where = _where(first.dump.processes)
    same = [process for other in others if _says_the_same(other, first) for process in other.dump.processes]
    ranks = ranges(process.rank for process in same)
    also = (
        f" The same in rank{'s' if re.search('[-,]', ranks) else ''} {ranks}."
        if ranks
        else f" The same in {len(same)} other processes."
        if same
        else ""
    )
    return f"{where}{first.summary}{also}"


def _where(processes: Sequence[Process]) -> str:
    ranks, hosts = ranges(process.rank for process in processes), {process.host for process in processes} - {None}
    words = [f"rank {ranks}" if ranks else "", f"on {' and '.join(sorted(map(str, hosts)))}" if hosts else ""]
    place = " ".join(word for word in words if word)
    return f"{place[0].upper()}{place[1:]}: " if place else ""


def _says_the_same(other: Diagnosis, first: Diagnosis) -> bool:
    return other.verdict is first.verdict and _signature(other) == _signature(first)


def _signature(found: Diagnosis) -> Optional[str]:
    return found.findings[0].signature if found.findings else None


def _remedies(found: Sequence[Diagnosis]) -> Iterator[Remedy]:
    """Those of the islands with the gravest verdict, each once."""
    wanted = (remedy for one in found if one.verdict is found[0].verdict for remedy in one.remedies)
    yield from {remedy.id: remedy for remedy in wanted}.values()

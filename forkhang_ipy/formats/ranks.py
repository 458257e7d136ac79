"""Where a dump comes from: its file's name, or a prefix or heading in a log, in; rank, host and pid out.

    node12_rank3_py-spy.txt    rank 3 of node12          [rank3]: Traceback ...     rank 3
    rank-003.log               rank 3                    [1,3]<stdout>: ...         rank 3
    worker-7                   rank 7                    (Worker pid=42, ip=10.0.0.3)  on 10.0.0.3
    hang.host1.pid123          process 123 of host1      # rank 3                   rank 3

A number is only taken for a rank where a word says that it is one. Nothing is looked up anywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Optional, Sequence

from forkhang_ipy.model import Dump, Process

RANK = re.compile(r"(?i)(?<![a-z])(?:(?:global|local)[-_ ]?)?rank[-_.:=# ]{0,2}0*(?P<rank>\d{1,9})(?!\d)")
WORKER = re.compile(r"(?i)(?<![a-z])(?P<name>(?:worker|trainer|replica)[-_]?0*(?P<rank>\d{1,6}))(?!\d)")
HOST = re.compile(
    r"(?i)(?<![a-z0-9])(?P<host>(?:[a-z][a-z0-9]*-)*(?:node|host)[-_]?\d+|ip(?:-\d{1,3}){4})(?![a-z0-9])"
    r"|^(?P<address>\d{1,3}(?:\.\d{1,3}){3})(?![.\d])|\bip=(?P<told>[\w.:-]+)"
)
PID = re.compile(r"(?i)(?<![a-z])pid[-_.=]?(?P<pid>\d{1,9})(?!\d)")
PREFIX = re.compile(r"^\[(?:default)? ?(?P<rank>\d+)\]|^\[\d+,(?P<mpi>\d+)\]<std")


@dataclass(frozen=True)
class Origin:
    """Where something comes from, as far as a name says it."""

    rank: Optional[int] = None
    host: Optional[str] = None
    pid: Optional[int] = None


NOWHERE = Origin()


def of_file(name: str) -> Origin:
    """What the name of a file says, and what it leaves open the folder's name before it (`node12/rank3.txt`)."""
    parts = [part for part in re.split(r"[\\/]", name) if part][-2:]
    said = [_of_part(part) for part in reversed(parts)]
    return Origin(
        rank=next((one.rank for one in said if one.rank is not None), None),
        host=next((one.host for one in said if one.host is not None), None),
        pid=said[0].pid if said else None,
    )


def of_label(label: Optional[str]) -> Origin:
    """What a prefix of a log's lines, or the heading above a stack, says of rank and host."""
    if not label:
        return NOWHERE
    prefix = PREFIX.match(label)
    number = prefix and (prefix["rank"] or prefix["mpi"])
    return Origin(rank=int(number) if number else _rank(label), host=_host(label))


def stamped(dump: Dump, origin: Origin) -> Dump:
    """The same dump, in which each process says that it comes from there, unless it says otherwise itself."""
    if origin == NOWHERE:
        return dump
    return replace(dump, processes=tuple(_stamped(process, origin) for process in dump.processes))


def with_pid(dumps: Sequence[Dump], pid: Optional[int]) -> Sequence[Dump]:
    """The same dumps; where they are of one process without a number, this is its number."""
    processes = [process for dump in dumps for process in dump.processes]
    if pid is None or len(processes) != 1 or processes[0].pid is not None:
        return dumps
    return [replace(dump, processes=tuple(replace(one, pid=pid) for one in dump.processes)) for dump in dumps]


def _of_part(part: str) -> Origin:
    rank, worker, host, pid = _rank(part), WORKER.search(part), _host(part), PID.search(part)
    if worker and rank is not None:
        host = host or worker["name"]
    elif worker:
        rank = int(worker["rank"])
    return Origin(rank, host, int(pid["pid"]) if pid else None)


def _rank(text: str) -> Optional[int]:
    match = RANK.search(text)
    return int(match["rank"]) if match else None


def _host(text: str) -> Optional[str]:
    match = HOST.search(text)
    return next((name for name in match.groups() if name), None) if match else None


def _stamped(process: Process, origin: Origin) -> Process:
    rank = process.rank if process.rank is not None else origin.rank
    return replace(process, rank=rank, host=process.host or origin.host)

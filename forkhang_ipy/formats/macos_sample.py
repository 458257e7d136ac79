"""macOS `sample PID`: a tree a thread, outermost call first, each with the number of looks that met it there.

    Analysis of sampling python (pid 4242) every 1 millisecond
    Process:         python [4242]
    Parent Process:  zsh [4000]
    Call graph:
        2866 Thread_93633370   DispatchQueue_1: com.apple.main-thread  (serial)
        + 2866 os_fork  (in python) + 78  [0x101811b0e]
        +   2866 fork  (in libsystem_c.dylib) + 43  [0x7fff2069d8fb]
        +     2865 __psynch_cvwait  (in libsystem_kernel.dylib) + 10  [0x7fff20767cce]
        +     1 __psynch_mutexwait  (in libsystem_kernel.dylib) + 10  [0x7fff20767d00]

The tool puts the branch that was met most often first: that one is taken for the stack. The header alone is not read
beyond these lines.
"""

from __future__ import annotations

import re
from typing import Iterator, Optional

from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.model import Dump, Frame, Process, Thread

PROCESS = re.compile(r"^Analysis of sampling .* \(pid (?P<pid>\d+)\)|^Process: +(?P<command>.*?) \[(?P<number>\d+)\]$")
PARENT = re.compile(r"^Parent Process: +.* \[(?P<pid>\d+)\]$")
HEADER = re.compile(
    r"^(?:Path|Load Address|Identifier|Version|Code Type|Platform|Date/Time|Launch Time|OS Version|Report Version"
    r"|Analysis Tool|Physical footprint.*|Responsible|User ID|Parent Process): .*$|^-{2,}$|^$"
)
GRAPH = re.compile(r"^Call graph:$")
THREAD = re.compile(
    r"^ {4}\d+ Thread_(?P<tid>\d+)(?:: (?P<name>.*?)|\s+DispatchQueue_\d+: (?P<queue>.*?))?(?: +\(.*\))?$"
)
FRAME = re.compile(
    r"^(?P<indent>[ +!:|]+)(?P<looks>\d+) (?P<function>.+?)  \(in (?P<module>[^()]+)\)"
    r"(?: +load address \S+)?(?: \+ [\dx,.a-f]+)?(?:  \[(?P<address>0x[0-9a-f]+)[^\]]*\])?(?:  "
    r"(?P<file>[^\s:]+):(?P<line>\d+))?$"
)


def _read(lines: Lines) -> Optional[Dump]:
    pid: Optional[int] = None
    parent: Optional[int] = None
    stood = lines.at
    while lines and not GRAPH.match(lines.next):
        told, above = lines.take(PROCESS), lines.take(PARENT)
        pid = int(told["pid"] or told["number"]) if told else pid
        parent = int(above["pid"]) if above else parent
        if not (told or above or (lines.at > stood and lines.take(HEADER))):
            break
    lines.take(GRAPH)
    threads = tuple(_threads(lines))
    if not threads and pid is None:
        lines.at = stood
        return None
    return Dump(processes=(Process(pid=pid, parent=parent, threads=threads),), sources=("sample",))


def _threads(lines: Lines) -> Iterator[Thread]:
    while True:
        head = lines.take(THREAD)
        if not head:
            return
        yield Thread(
            tid=int(head["tid"]),
            name=head["name"] or head["queue"],
            native=tuple(_frames(lines))[::-1],
            ghost=False,
        )


def _frames(lines: Lines) -> Iterator[Frame]:
    """The first branch all the way down; its sisters are passed over."""
    depth = -1
    branched = False
    while True:
        match = None if THREAD.match(lines.next) else lines.take(FRAME)
        if not match:
            return
        branched = branched or len(match["indent"]) <= depth
        depth = len(match["indent"])
        if not branched:
            yield _frame(match)


def _frame(match: re.Match[str]) -> Frame:
    function = match["function"]
    line = match["line"]
    return Frame(
        None if function == "???" else function,
        file=match["file"],
        line=int(line) if line else None,
        module=match["module"],
        address=int(match["address"], 16) if match["address"] else None,
    )


BEGINS = re.compile(r"^Analysis of sampling .* \(pid \d+\)|^Process: +.* \[\d+\]$|^Call graph:$|^ {4}\d+ Thread_\d+")
FORMAT = SectionFormat("sample", BEGINS, _read)

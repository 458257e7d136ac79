"""`eu-stack -p PID`, with or without modules, sources and build ids; innermost frame first.

    PID 4242 - process
    TID 4242:
    #0  0x00007f00cc001122     __lll_lock_wait - /usr/lib/libc.so.6
        ../nptl/lowlevellock.c:49:7
    #1  0x000055aa00001a2b - 1 os_fork - /opt/py/lib/libpython3.11.so.1.0
    eu-stack: dwfl_thread_getframes tid 4242 at 0x55aa00001a2b in python3.11: no matching address range

It lists every task of the process. A gdb frame has its `in` where these have blanks.
"""

from __future__ import annotations

import re
from typing import Iterator, Optional

from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.model import Dump, Frame, Process, Thread

PROCESS = re.compile(r"^PID (?P<pid>\d+) - (?:process|core)$")
THREAD = re.compile(r"^TID (?P<tid>\d+):$")
FRAME = re.compile(
    r"^#\d+ +(?P<address>0x[0-9a-f]{8,16})(?!.* in )(?: - 1| {4}| )?(?: (?P<function>(?!- ).+?))?(?: - "
    r"(?P<module>\S.*))?$"
)
PLACE = re.compile(r"^ {4}(?P<file>[^\s:\[]+):(?P<line>\d+)(?::\d+)?$|^ {4}\[[0-9a-f]+\]@0x[0-9a-f]+")
ERROR = re.compile(r"^eu-stack: dwfl_thread_getframes tid \d+ .*$")


def _read(lines: Lines) -> Optional[Dump]:
    head = lines.take(PROCESS)
    threads = tuple(_threads(lines))
    if not (head or threads):
        return None
    tasks = tuple(thread.tid for thread in threads if thread.tid is not None) if head else None
    process = Process(pid=int(head["pid"]) if head else None, tasks=tasks or None, threads=threads)
    return Dump(processes=(process,), sources=("eu-stack",))


def _threads(lines: Lines) -> Iterator[Thread]:
    while True:
        head = lines.take(THREAD)
        if head:
            yield Thread(tid=int(head["tid"]), native=tuple(_frames(lines)), ghost=False)
        elif not lines.take(ERROR):
            return


def _frames(lines: Lines) -> Iterator[Frame]:
    while True:
        match = lines.take(FRAME)
        if not match:
            return
        place = lines.take(PLACE)
        while lines.take(PLACE):
            pass
        yield Frame(
            match["function"],
            file=place["file"] if place else None,
            line=int(place["line"]) if place and place["line"] else None,
            module=match["module"],
            address=int(match["address"], 16),
        )


FORMAT = SectionFormat("eu-stack", re.compile(r"^PID \d+ - (?:process|core)$|^TID \d+:$"), _read)

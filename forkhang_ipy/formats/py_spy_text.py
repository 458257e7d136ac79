"""`py-spy dump`: one block a process, one paragraph a thread, innermost frame first.

    Process 4242: python train.py --epochs 3
    Python v3.11.7 (/opt/py/bin/python3.11)
    Parent Process 4000: python launch.py

    Thread 4242 (active+gil): "MainThread"
        do_fork (train.py:11)
            Arguments:
                n: 3
        0x7f00bb00cc00 (libc.so.6)
    Thread 0x7F00AA00B6C0 (idle)
        worker (pkg/pool.py:51)

A hexadecimal thread number is a pthread id. Native frames are not marked: they are told by their library's name.
People also paste frames alone, at any indentation: two or more of them are a thread.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Iterator, List, Optional, Tuple

from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.model import Dump, Frame, Process, Thread

PROCESS = re.compile(r"^\s*Process (?P<pid>\d+): (?P<command>.*)$")
PYTHON = re.compile(r"^\s*Python v(?P<version>\d\S*)(?: \((?P<executable>.*)\))?$")
PARENT = re.compile(r"^\s*Parent Process (?P<pid>\d+): ")
THREAD = re.compile(r'^\s*Thread (?P<id>0[xX][0-9a-fA-F]+|\d+) \((?P<status>[a-z+]+)\)(?:: "?(?P<name>.*?)"?)?$')
FRAME = re.compile(
    r"^\s+(?P<function>\S.*?) \((?P<file>[^()]*?(?:\([^()]*\)[^()]*?){0,4}|<[^<>]*>)(?::(?P<line>\d+))?\)$"
)
BARE = re.compile(
    r"^\s*(?P<function><?[\w.$~:@]+(?:<\w+>)?>?) "
    r"\((?P<file>(?!\d)[^()\s:]*(?:\.(?:pyx?|c|cc|cpp|h|rs)(?=:\d)|\.so[\w.]*|[\w-]\.so)|\?|<[^<>]*>(?=:\d))(?::(?P<line>\d+))?\)$"
)
VARIABLES = re.compile(r"^\s+(?:Arguments|Locals)::?$")
VARIABLE = re.compile(r"^\s{8,}(?P<name>[^:\s()]+): (?P<value>.*)$")
RULE = re.compile(r"^-{20,}$")
BLANK = re.compile(r"^$")
NATIVE_FILE = re.compile(
    r"\.so(?:[.-][\w.]+)?$|\.(?:c|cc|cpp|cxx|h|hpp|rs|dylib|S)$|^\?$|^(?:lib(?:c|m|dl|pthread)-[\d.]+|python[\d.]*|ld-[\w.-]+)"
)
NATIVE_FUNCTION = re.compile(r"^0x[0-9a-f]+$")


def _read(lines: Lines) -> Optional[Dump]:
    process = _process(lines)
    return Dump(processes=(process,), sources=("py-spy",)) if process else None


def _process(lines: Lines) -> Optional[Process]:
    stood = lines.at
    lines.take(RULE)
    head = lines.take(PROCESS)
    python = lines.take(PYTHON)
    parent = lines.take(PARENT)
    threads = tuple(_threads(lines)) or (() if head or python else _bare(lines))
    if not (head or python or threads):
        lines.at = stood
        return None
    return Process(
        pid=int(head["pid"]) if head else None,
        parent=int(parent["pid"]) if parent else None,
        command=head["command"] if head else None,
        python=python["version"] if python else None,
        executable=python["executable"] if python else None,
        threads=threads,
    )


def _threads(lines: Lines) -> Iterator[Thread]:
    while lines:
        head = lines.take(THREAD)
        if head:
            yield thread(head, tuple(_frames(lines)))
        elif not lines.take(BLANK):
            return


def thread(head: re.Match[str], frames: Tuple[Frame, ...]) -> Thread:
    """The thread of this heading; its frames, innermost first, in two columns."""
    number = int(head["id"], 0)
    pthread = head["id"][:2] in ("0x", "0X")
    status = head["status"]
    return Thread(
        ident=number if pthread else None,
        tid=None if pthread else number,
        name=head["name"],
        python=tuple(frame for frame in frames if frame.module is None),
        native=tuple(frame for frame in frames if frame.module is not None),
        holds_gil=True if "gil" in status else None,
        active=status.startswith("active") if status.startswith(("active", "idle")) else None,
    )


def _bare(lines: Lines) -> Tuple[Thread, ...]:
    """Frames without a heading; one line alone may be anything."""
    if not (BARE.match(lines.next) and BARE.match(lines.after(1))):
        return ()
    frames = tuple(_frames(lines))
    python = tuple(frame for frame in frames if frame.module is None)
    return (Thread(python=python, native=tuple(frame for frame in frames if frame.module is not None)),)


def _frames(lines: Lines) -> Iterator[Frame]:
    while True:
        match = lines.take(FRAME) or lines.take(BARE)
        if not match:
            if lines.over_noise(FRAME):
                continue
            return
        yield frame(match["function"], match["file"], match["line"], _variables(lines))


def frame(function: str, file: str, line: Optional[str], variables: Tuple[Tuple[str, str], ...] = ()) -> Frame:
    """One call, as py-spy names it; a native one has a module."""
    call = _call(function, file, line)
    return replace(call, locals=variables) if variables and call.module is None else call


@lru_cache(maxsize=8192)
def _call(function: str, file: str, line: Optional[str]) -> Frame:
    """Most calls of a dump come again and again."""
    number = int(line) if line else None
    if NATIVE_FUNCTION.match(function):
        return Frame(function=None, module=file, address=int(function, 16))
    if NATIVE_FILE.search(file):
        return Frame(function=function, module=file, line=number)
    return Frame(function=function, file=file, line=number)


def _variables(lines: Lines) -> Tuple[Tuple[str, str], ...]:
    found: List[Tuple[str, str]] = []
    inside = False
    while True:
        if lines.next.endswith(":") and lines.take(VARIABLES):
            inside = True
            continue
        match = lines.take(VARIABLE) if inside else None
        if not match:
            return tuple(found)
        found.append((match["name"], match["value"]))


BEGINS = re.compile(
    r"^-{20,}$|^\s*(?:Process \d+: |Python v\d|Thread (?:0[xX][0-9a-fA-F]+|\d+) \([a-z+]+\)|[^()]+ \([^()]+\)$)"
)
FORMAT = SectionFormat("py-spy text", BEGINS, _read, one_thread=False)

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
"""

from __future__ import annotations

import re
from typing import Iterator, List, Optional, Tuple

from forkhang_ipy.formats._base import Format, Lines
from forkhang_ipy.model import Dump, Frame, Process, Thread

PROCESS = re.compile(r"^Process (?P<pid>\d+): (?P<command>.*)$")
PYTHON = re.compile(r"^Python v(?P<version>\S+)(?: \((?P<executable>.*)\))?$")
PARENT = re.compile(r"^Parent Process (?P<pid>\d+): ")
THREAD = re.compile(r'^Thread (?P<id>0[xX][0-9a-fA-F]+|\d+) \((?P<status>[a-z+]+)\)(?:: "(?P<name>.*)")?$')
FRAME = re.compile(r"^ {4}(?P<function>\S.*?) \((?P<file>[^()]*?)(?::(?P<line>\d+))?\)$")
VARIABLES = re.compile(r"^ {8}(?:Arguments|Locals)::?$")
VARIABLE = re.compile(r"^ {12}(?P<name>[^:\s]+): (?P<value>.*)$")
RULE = re.compile(r"^(?:-{20,})?$")
NATIVE_FILE = re.compile(r"\.so(?:\.[\d.]+)?$|\.(?:c|cc|cpp|h|rs|dylib)$|^\?$")
NATIVE_FUNCTION = re.compile(r"^0x[0-9a-f]+$")


def _recognises(text: str) -> bool:
    return any(THREAD.match(line) or PROCESS.match(line) for line in text.splitlines())


def _parse(text: str) -> Dump:
    lines = Lines(text)
    processes = tuple(_processes(lines))
    return Dump(processes=processes, sources=("py-spy",) if processes else (), unread=tuple(lines.unread))


def _processes(lines: Lines) -> Iterator[Process]:
    while lines:
        process = _process(lines)
        if process:
            yield process
        else:
            lines.skip()


def _process(lines: Lines) -> Optional[Process]:
    head = lines.take(PROCESS)
    python = lines.take(PYTHON)
    parent = lines.take(PARENT)
    threads = tuple(_threads(lines))
    if not (head or python or threads):
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
            yield _thread(head, lines)
        elif not lines.take(RULE):
            return


def _thread(head: re.Match[str], lines: Lines) -> Thread:
    number = int(head["id"], 0)
    pthread = head["id"][:2] in ("0x", "0X")
    frames = tuple(_frames(lines))
    return Thread(
        ident=number if pthread else None,
        tid=None if pthread else number,
        name=head["name"],
        python=tuple(frame for frame in frames if frame.module is None),
        native=tuple(frame for frame in frames if frame.module is not None),
        holds_gil=True if "gil" in head["status"] else None,
    )


def _frames(lines: Lines) -> Iterator[Frame]:
    while True:
        match = lines.take(FRAME)
        if not match:
            return
        yield _frame(match, _variables(lines))


def _frame(match: re.Match[str], variables: Tuple[Tuple[str, str], ...]) -> Frame:
    line = int(match["line"]) if match["line"] else None
    if NATIVE_FUNCTION.match(match["function"]):
        return Frame(function=None, module=match["file"], address=int(match["function"], 16))
    if NATIVE_FILE.search(match["file"]):
        return Frame(function=match["function"], module=match["file"], line=line)
    return Frame(function=match["function"], file=match["file"], line=line, locals=variables)


def _variables(lines: Lines) -> Tuple[Tuple[str, str], ...]:
    found: List[Tuple[str, str]] = []
    while lines.take(VARIABLES) or found:
        match = lines.take(VARIABLE)
        if not match:
            break
        found.append((match["name"], match["value"]))
    return tuple(found)


FORMAT = Format("py-spy text", _recognises, _parse)

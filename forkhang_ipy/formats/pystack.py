"""`pystack remote` and `pystack core`: a paragraph a thread, innermost frame last.

    Traceback for thread 4242 (python3) [Has the GIL,Garbage collecting] (most recent call last):
        (Python) File "/w/train.py", line 11, in do_fork
            pid = os.fork()
          Arguments:
            n: 3
        (C) File "./Modules/posixmodule.c", line 6868, in os_fork_impl (inlined) (/opt/py/lib/libpython3.11.so.1.0)
        (C) File "???", line 0, in _start (/opt/py/bin/python3.11)

    The frame stack for thread 4250 is empty

A thread without a command name in brackets is no task of the process: a ghost, where others have one. The tag
"Garbage collecting" may be wrong and is not kept. A core's prelude tells the process.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterator, List, Optional, Tuple

from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.model import Dump, Frame, Process, Thread, Told, Wait, WaitKind

THREAD = re.compile(
    r"^\s*Traceback for thread (?P<tid>\d+)(?: \((?P<name>.*?)\))? ?\[(?P<status>[^\]]*)\] ?\(most recent call last\):$"
)
EMPTY = re.compile(r"^The frame stack for thread (?P<tid>\d+) is empty$")
FRAME = re.compile(
    r"^\s+\((?P<kind>Python|C|C\+\+)\) File \"(?P<file>[^\"]*)\", line (?P<line>\d+|\?), in (?P<function>.+?)"
    r"(?P<inlined> \(inlined\))?(?: \((?P<module>[^()]*)\))?$"
)
PYTHON_FRAME = re.compile(r"^\s+\(Python\) File \"(?P<file>[^\"]*)\", line (?P<line>\d+|\?), in (?P<function>.+)$")
VARIABLES = re.compile(r"^ +(?:Arguments|Locals):$")
VARIABLE = re.compile(r"^ {8,}(?P<name>[^\W\d]\w*): (?P<value>.*)$")
SOURCE = re.compile(r"^ {8,}(?!\((?:Python|C)\) File )\S")
NOTE = re.compile(
    r"^\s+(?:In the main interpreter|In interpreter \d+|Not currently attached to any interpreter)\b.*$"
    r"|^\* - Unable to merge native stack due to insufficient native information - \*$|^$"
)
PRELUDE = re.compile(
    r"^(?:Using executable found in the core file: .*|Core file information:|state: .*|uid: .*"
    r"|pid: (?P<pid>\d+) ppid: (?P<parent>\d+).*|executable: (?P<executable>\S+)(?: arguments: (?P<command>.*))?"
    r"|The process died due .*|The core file seems to have been generated on demand.*)$"
)
BLANK = re.compile(r"^$")


def _read(lines: Lines) -> Optional[Dump]:
    process = _prelude(lines)
    threads = _told_ghosts(tuple(_threads(lines)))
    if not threads:
        return None if process is None else Dump(processes=(process,), sources=("pystack",))
    process = replace(process or Process(pid=None), threads=threads)
    return Dump(processes=(process,), sources=("pystack",))


def _prelude(lines: Lines) -> Optional[Process]:
    """A core file's own word on its process."""
    process: Optional[Process] = None
    while True:
        match = lines.take(PRELUDE)
        if not match:
            if process and lines and lines.take(BLANK):
                continue
            return process
        process = process or Process(pid=None)
        said = {name: text for name, text in match.groupdict().items() if text}
        process = replace(
            process,
            pid=int(said["pid"]) if "pid" in said else process.pid,
            parent=int(said["parent"]) if "parent" in said else process.parent,
            executable=said.get("executable", process.executable),
            command=said.get("command", process.command),
        )


def _threads(lines: Lines) -> Iterator[Thread]:
    while lines:
        head, empty = lines.take(THREAD), lines.take(EMPTY)
        if head:
            yield _thread(head, lines)
        elif empty:
            yield Thread(tid=int(empty["tid"]) or None)
        elif not lines.take(NOTE):
            return


def _thread(head: re.Match[str], lines: Lines) -> Thread:
    frames = tuple(_frames(lines))[::-1]
    status = head["status"]
    return Thread(
        tid=int(head["tid"]) or None,
        name=head["name"],
        python=tuple(frame for native, frame in frames if not native),
        native=tuple(frame for native, frame in frames if native),
        wait=Wait(WaitKind.GIL, Told.STACK) if "Waiting for the GIL" in status else None,
        holds_gil=True if "Has the GIL" in status else None,
        ghost=True if "Thread terminated" in status else None,
    )


def _told_ghosts(threads: Tuple[Thread, ...]) -> Tuple[Thread, ...]:
    """The command name is missing where the TID is no task: a mark only where other threads have one."""
    if not any(thread.name for thread in threads):
        return threads
    return tuple(thread if thread.name or not thread.python else replace(thread, ghost=True) for thread in threads)


def _frames(lines: Lines) -> Iterator[Tuple[bool, Frame]]:
    """Outermost first: whether it is native, and the call."""
    while True:
        match = lines.take(PYTHON_FRAME) or lines.take(FRAME)
        if match:
            source = lines.take(SOURCE)
            frame = _frame(match, _variables(lines))
            yield frame[0], replace(frame[1], source=source.string.strip() if source else None)
        elif not ((lines.next and lines.take(NOTE)) or lines.over_noise(FRAME)):
            return


def _frame(match: re.Match[str], variables: Tuple[Tuple[str, str], ...]) -> Tuple[bool, Frame]:
    said = match.groupdict()
    module = said.get("module")
    file = None if match["file"] in ("???", module) else match["file"]
    line = int(match["line"]) or None if match["line"] != "?" else None
    function = None if match["function"] == "???" else match["function"]
    return "kind" in said, Frame(function=function, file=file, line=line, module=module, locals=variables)


def _variables(lines: Lines) -> Tuple[Tuple[str, str], ...]:
    """The variables, where they were asked for; further lines of source are passed over."""
    found: List[Tuple[str, str]] = []
    inside = False
    while True:
        if lines.take(VARIABLES):
            inside = True
            continue
        match = lines.take(VARIABLE) if inside else None
        if match:
            found.append((match["name"], match["value"]))
        elif not lines.take(SOURCE):
            return tuple(found)


BEGINS = re.compile(
    r"^\s*Traceback for thread \d|^The frame stack for thread|^Using executable found in the core file"
    r"|^Core file information:"
)
FORMAT = SectionFormat("pystack", BEGINS, _read)

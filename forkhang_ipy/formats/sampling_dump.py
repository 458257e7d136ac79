"""CPython 3.15's `python -m profiling.sampling dump PID`: a paragraph a thread, innermost frame last.

Stack dump for PID 4242, thread 4242 (main thread, has GIL, on CPU; most recent call last):
  File "train.py", line 13, in <module>
    pid = do_fork()
No Python frames
"""

from __future__ import annotations

import re
from typing import Iterator, List, Optional

from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.model import Dump, Frame, Process, Thread, Told, Wait, WaitKind

THREAD = re.compile(
    r"^Stack dump for PID (?P<pid>\d+), thread (?P<tid>\d+) \((?P<status>.*?)(?:; )?most recent call last\):$"
)
FRAME = re.compile(
    r'^\s+File "(?P<file>[^"]*)", line (?P<line>\d+)(?:, in (?P<function>.+?))?(?: \[source file changed .*\])?$'
)
SOURCE = re.compile(r"^ {4,}\S")
NOTE = re.compile(r"^\s*No Python frames$|^\s*\[source file changed after process started\]$")
BLANK = re.compile(r"^$")


def _read(lines: Lines) -> Optional[Dump]:
    pid: Optional[int] = None
    threads: List[Thread] = []
    while True:
        head = THREAD.match(lines.next)
        if head and pid in (None, int(head["pid"])):
            lines.step()
            pid = int(head["pid"])
            threads.append(_thread(head, lines))
        elif not (threads and lines and lines.take(BLANK)):
            break
    return Dump(processes=(Process(pid=pid, threads=tuple(threads)),), sources=("sampling",)) if threads else None


def _thread(head: re.Match[str], lines: Lines) -> Thread:
    status = head["status"]
    active = True if "on CPU" in status else False if "idle" in status else None
    return Thread(
        tid=int(head["tid"]),
        name="MainThread" if "main thread" in status else None,
        python=tuple(_frames(lines))[::-1],
        wait=Wait(WaitKind.GIL, Told.STACK) if "waiting for GIL" in status else None,
        holds_gil=True if "has GIL" in status else None,
        active=active,
    )


def _frames(lines: Lines) -> Iterator[Frame]:
    while True:
        match = lines.take(FRAME)
        if match:
            source = lines.take(SOURCE)
            text = source.string.strip() if source else None
            yield Frame(match["function"], match["file"], int(match["line"]), source=text)
        elif not (lines.take(NOTE) or lines.take(SOURCE)):
            return


FORMAT = SectionFormat("sampling dump", re.compile(r"^Stack dump for PID \d"), _read)

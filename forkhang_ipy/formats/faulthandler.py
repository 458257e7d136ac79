"""faulthandler: a paragraph a thread, innermost frame first, pthread ids.

    Fatal Python error: Segmentation fault
    Timeout (0:05:00)!
    Thread 0x00007f00aa00b6c0 [worker-1] (most recent call first):
      File "/w/pool.py", line 51 in worker
      ...
    Current thread 0x00007f00bb00cb80 [python3] (most recent call first):
      Garbage-collecting
      <no Python frame>

    Current thread's C stack trace (most recent call first):
      Binary file "/usr/lib/libc.so.6", at pthread_mutex_lock+0x112 [0x7f00cc001122]
      Binary file "/opt/py/bin/python3.14", at +0x1a2b [0x55aa001a2b00]
      <truncated rest of calls>

    Extension modules: numpy.core._multiarray_umath (total: 1)

Names in brackets and the C stack are of 3.14 and later. In a forked child, ghosts look like any other thread; only the
current thread is surely alive. No process number stands anywhere.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Iterator, List, Optional, Tuple

from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.model import Dump, Frame, Process, Thread

FATAL = re.compile(r"^(?P<error>Fatal Python error: .*|Windows fatal exception: .*)$")
TIMEOUT = re.compile(r"^Timeout \([\d:.]+\)!$")
THREAD = re.compile(
    r"^\s*(?P<current>Current thread|Thread) (?P<ident>0x[0-9a-f]+)(?: \[(?P<name>.*)\])? \(most recent call first\):$"
    r"|^\s*Stack \(most recent call first\):$"
)
FRAME = re.compile(r'^\s*File (?:"(?P<file>[^"]*)"|\?\?\?), line (?P<line>\d+|\?\?\?) in (?P<function>.+)$')
NO_FRAME = re.compile(
    r"^  (?:<no Python frame>|Garbage-collecting|<freed interpreter>|<invalid frame>|<tstate is freed>|\.\.\.)$"
)
C_STACK = re.compile(r"^Current thread's C stack trace \(most recent call first\):$")
C_FRAME = re.compile(
    r'^  Binary file "(?P<module>[^"]*)", at (?P<function>[^\s+]+)?(?:\+0x[0-9a-f]+)? ?\[(?P<address>0x[0-9a-f]+)\]$'
)
C_NOTE = re.compile(
    r"^  <(?:truncated rest of calls|cannot get C stack on this system|system returned no stack trace)>$"
)
NOTE = re.compile(
    r"^(?:Python runtime state: .*|Extension modules: .*|[<>]*frozen .*"
    r"|<Cannot show all threads while the GIL is disabled>)?$"
)


def _read(lines: Lines) -> Optional[Dump]:
    fatal = lines.take(FATAL)
    timeout = None if fatal else lines.take(TIMEOUT)
    threads = _threads(lines)
    if not (threads or fatal or timeout):
        return None
    if fatal:
        threads = _with_error(threads, fatal["error"])
    return Dump(processes=(Process(pid=None, threads=tuple(threads)),) if threads else (), sources=("faulthandler",))


def _threads(lines: Lines) -> List[Thread]:
    """The threads of one dump: a thread that comes again begins another."""
    threads: List[Thread] = []
    current: Optional[int] = None
    while lines:
        if lines.take(C_STACK):
            _add_c_stack(threads, current, tuple(_c_frames(lines)))
            continue
        head = THREAD.match(lines.next)
        ident = int(head["ident"], 16) if head and head["ident"] else None
        if head and all(ident != thread.ident for thread in threads):
            lines.step()
            current = current if head["current"] == "Thread" else len(threads)
            threads.append(_thread(head, ident, tuple(_frames(lines))))
        elif head or not lines.take(NOTE):
            break
    return threads or [Thread(python=frames) for frames in [tuple(_frames(lines))] if frames]


def _thread(head: re.Match[str], ident: Optional[int], frames: Tuple[Frame, ...]) -> Thread:
    is_current = head["current"] != "Thread"
    return Thread(ident=ident, name=head["name"], python=frames, ghost=False if is_current else None)


def _with_error(threads: List[Thread], error: str) -> List[Thread]:
    """A fatal error is the current thread's; one without stacks is a thread all the same."""
    threads = threads or [Thread(ghost=False)]
    at = next((at for at, thread in enumerate(threads) if thread.ghost is False), 0)
    return [replace(thread, error=error) if at == place else thread for place, thread in enumerate(threads)]


def _add_c_stack(threads: List[Thread], current: Optional[int], native: Tuple[Frame, ...]) -> None:
    """The C stack stands behind all threads and is the current one's."""
    if current is None:
        threads.append(Thread(native=native, ghost=False))
    else:
        threads[current] = replace(threads[current], native=native)


def _frames(lines: Lines) -> Iterator[Frame]:
    while True:
        match = lines.take(FRAME)
        if match:
            yield _frame(match["function"], match["file"], match["line"])
        elif not (lines.take(NO_FRAME) or lines.over_noise(FRAME)):
            return


@lru_cache(maxsize=8192)
def _frame(function: str, file: Optional[str], line: str) -> Frame:
    """Most calls of a dump come again and again."""
    return Frame(function, file, int(line) if line.isdigit() else None)


def _c_frames(lines: Lines) -> Iterator[Frame]:
    while True:
        match = lines.take(C_FRAME)
        if match:
            yield Frame(match["function"], module=match["module"] or None, address=int(match["address"], 16))
        elif not lines.take(C_NOTE):
            return


BEGINS = re.compile(
    r"^Fatal Python error: |^Windows fatal exception: |^Timeout \([\d:.]+\)!$|^\s*(?:Current thread"
    r"|Thread) 0x[0-9a-f]+ "
    r"|^\s*Stack \(most recent call first\):$|^Current thread's C stack trace|^\s*File (?:\".*\"|\?\?\?), line "
    r"(?:\d+|\?\?\?) in "
)
FORMAT = SectionFormat("faulthandler", BEGINS, _read, attaches=False)

"""gdb's `bt` and `thread apply all bt`, innermost frame first.

    Thread 2 (Thread 0x7f00aa00b6c0 (LWP 4250) "python3"):
    #0  futex_wait (private=0, expected=2, futex_word=0x7f00dd001060 <m>) at ../sysdeps/nptl/futex-internal.h:146
    #1  0x00007f00dd00015c in atfork_child () from /w/libext.so
    #2  <signal handler called>
    #3  0x000055aa00000000 in ?? ()
    [Inferior 1 (process 4242) detached]

A `bt` alone has no thread line. Inlined frames have no address. The process's number stands only in the last line.
"""

from __future__ import annotations

import re
from typing import Iterator, List, Optional, Tuple

from forkhang_ipy.formats._base import Format, Lines
from forkhang_ipy.model import Dump, Frame, Process, Thread, Told, Wait, WaitKind

PROMPT = r"^(?:\(gdb\) ?)*"
THREAD = re.compile(
    PROMPT + r"Thread \d+ \((?:Thread (?P<ident>0x[0-9a-f]+) \()?LWP (?P<tid>\d+)\)?(?: \"(?P<name>[^\"]*)\")?\).*:$"
)
FRAME = re.compile(PROMPT + r"#\d+ +(?:(?P<address>0x[0-9a-f]+) in )?(?P<call>\S.*)$")
CALL = re.compile(
    # gdb puts a space before the arguments; people who retype a stack often leave it out.
    r"^(?P<function>.+?(?= \()|[^(\s]+)\s?\((?P<arguments>.*)\)"
    r"(?: at (?P<file>[^\s:]+):(?P<line>\d+)| from (?P<module>\S+))?$"
)
DETACHED = re.compile(PROMPT + r"\[Inferior \d+ \((?:process (?P<pid>\d+)|Remote target)\) (?:detached|killed)\]$")
NOISE = re.compile(
    PROMPT
    + r"(?:(?:bt|backtrace|thread apply all bt|detach|quit|q)\b.*|\[New LWP \d+\]|warning: .*|\[Thread debugging .*"
    r"|Using host libthread_db .*|Backtrace stopped: .*|\(More stack frames follow\.\.\.\))?$"
)
FUTEX = re.compile(r"futex_word=(?P<address>0x[0-9a-f]+)")
EXPECTED = re.compile(r"expected=(?P<value>\d+)")
FOR_EVER = re.compile(r"abstime=0x0\b")


def _recognises(text: str) -> bool:
    return any(THREAD.match(line) or _is_frame(line) for line in text.splitlines())


def _is_frame(line: str) -> bool:
    match = FRAME.match(line)
    return bool(match and (match["address"] or CALL.match(match["call"])))


def _parse(text: str) -> Dump:
    lines = Lines(text)
    threads = []
    pid: Optional[int] = None
    while lines:
        thread = _thread(lines)
        detached = lines.take(DETACHED)
        if thread:
            threads.append(thread)
        if detached and detached["pid"]:
            pid = int(detached["pid"])
        if not (thread or detached or lines.take(NOISE)):
            lines.skip()
    process = Process(pid=pid, tasks=_tasks(threads), threads=tuple(threads))
    return Dump(processes=(process,) if threads else (), sources=("gdb",), unread=tuple(lines.unread))


def _tasks(threads: List[Thread]) -> Optional[Tuple[int, ...]]:
    """Gdb lists every live thread, where it prints the threads' numbers at all."""
    tids = tuple(thread.tid for thread in threads if thread.tid is not None)
    return tids or None


def _thread(lines: Lines) -> Optional[Thread]:
    head = lines.take(THREAD)
    calls = tuple(_calls(lines))
    if not (head or calls):
        return None
    return Thread(
        ident=int(head["ident"], 16) if head and head["ident"] else None,
        tid=int(head["tid"]) if head else None,
        name=head["name"] if head else None,
        native=tuple(_frame(match) for match in calls),
        wait=_wait(tuple(match["call"] for match in calls)),
        ghost=False if head else None,
    )


def _calls(lines: Lines) -> Iterator[re.Match[str]]:
    while True:
        match = lines.take(FRAME)
        if not match:
            return
        yield match


def _frame(match: re.Match[str]) -> Frame:
    call = CALL.match(match["call"])
    function = call["function"] if call else match["call"]
    return Frame(
        function=None if function == "??" else function,
        file=call["file"] if call else None,
        line=int(call["line"]) if call and call["line"] else None,
        module=call["module"] if call else None,
        address=int(match["address"], 16) if match["address"] else None,
    )


def _wait(calls: Tuple[str, ...]) -> Optional[Wait]:
    """The futex that the arguments of the innermost frames tell, where gdb had glibc's symbols."""
    word = next((match for match in map(FUTEX.search, calls[:3]) if match), None)
    if not word:
        return None
    expected = next((match for match in map(EXPECTED.search, calls[:3]) if match), None)
    limited = not any(map(FOR_EVER.search, calls[:5]))
    return Wait(
        WaitKind.LOCK,
        Told.STACK,
        call="futex",
        address=int(word["address"], 16),
        value=int(expected["value"]) if expected else None,
        timeout=None if limited else False,
    )


FORMAT = Format("gdb", _recognises, _parse)

"""lldb's `bt`, `bt all` and `thread list`; innermost frame first.

    (lldb) process attach --pid 4242
    Process 4242 stopped
    * thread #1, name = 'python3', queue = 'com.apple.main-thread', stop reason = signal SIGSTOP
      * frame #0: 0x000000018ad0f3cc libsystem_kernel.dylib`__psynch_cvwait + 8
        frame #1: 0x00007f00cc001122 libc.so.6`__futex_wait(futex=0x7f00dd001060) at futex-internal.h:146:13 [opt]
      thread #2: tid = 0x77c27d, 0x00007fff20796443 libsystem_kernel.dylib`poll + 10

Threads are listed upwards from 1, so a torn list cannot be told from a whole one: it says nothing of how many live.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Dict, Iterator, Optional

from forkhang_ipy.formats import gdb_frames
from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.formats.whose import whose
from forkhang_ipy.model import Dump, Frame, Process, Thread

PROMPT = r"^(?:\(lldb\) ?)*"
PROCESS = re.compile(PROMPT + r"Process (?P<pid>\d+) (?:stopped|detached|launched.*|exited.*)$")
THREAD = re.compile(PROMPT + r"(?:\* | {2})?thread #(?P<number>\d+)(?P<rest>[,:].*)?$")
TID = re.compile(r"\btid = (?P<tid>0x[0-9a-f]+|\d+)")
NAME = re.compile(r"\bname = '(?P<name>[^']*)'")
QUEUE = re.compile(r"\bqueue = '(?P<name>[^']*)'")
FRAME = re.compile(PROMPT + r"\s*(?:\* )?frame #\d+: (?P<call>0x[0-9a-f]+ .*)$")
CALL = re.compile(
    r"^(?P<address>0x[0-9a-f]+) (?:(?P<module>[^`]+)`)?(?P<function>.+?)(?P<arguments>\([\w*&]+=.*\))?"
    r"(?: \[inlined\].*?)?"
    r"(?: \+ \d+)?(?: at (?P<file>[^\s:]+):(?P<line>\d+)(?::\d+)?)?(?: \[(?:opt|artificial)[^\]]*\])*$"
)
COMMAND = re.compile(r"^(?:\(lldb\) ?)+")
NOISE = re.compile(
    r"^(?:Executable (?:module|binary) set to .*|Architecture set to: .*|Target \d+: \(.*\) stopped\.|->  .*|$)$"
)


def _read(lines: Lines) -> Optional[Dump]:
    stood = lines.at
    threads: Dict[int, Thread] = {}
    pid: Optional[int] = None
    while lines:
        told = lines.take(PROCESS)
        head = None if told else lines.take(THREAD)
        if told:
            pid = pid or int(told["pid"])
        elif head:
            number = int(head["number"])  # where it stopped is shown first, then `bt`, then the list again
            threads[number] = _with(threads.get(number), _thread(head, lines))
        elif FRAME.match(lines.next) and not threads:
            threads[0] = Thread(native=tuple(_frame(call) for call in _calls(lines)))
        elif not lines.take(NOISE):
            said = whose(lines.next)
            if not COMMAND.match(lines.next) or (said and (threads or pid)):
                break
            pid = said.pid if said else pid
            lines.step()
    if lines.at == stood:
        return None
    if not threads and pid is None:
        return Dump()
    return Dump(processes=(Process(pid=pid, threads=tuple(threads.values())),), sources=("lldb",) if threads else ())


def _thread(head: re.Match[str], lines: Lines) -> Thread:
    rest = head["rest"] or ""
    calls = tuple(_calls(lines))
    tid, name = TID.search(rest), NAME.search(rest) or QUEUE.search(rest)
    return Thread(
        tid=int(tid["tid"], 0) if tid else None,
        name=name["name"] if name else None,
        native=tuple(_frame(call) for call in calls),
        wait=gdb_frames.wait([f"{call['function']} {call['arguments'] or ''}" for call in calls]),
        ghost=False,
    )


def _with(known: Optional[Thread], new: Thread) -> Thread:
    if known is None:
        return new
    return replace(
        new,
        tid=known.tid if new.tid is None else new.tid,
        name=new.name or known.name,
        native=new.native or known.native,
        wait=new.wait or known.wait,
    )


def _calls(lines: Lines) -> Iterator[re.Match[str]]:
    while True:
        match = lines.take(FRAME)
        if not match:
            return
        call = CALL.match(match["call"])
        if call:
            yield call


def _frame(call: re.Match[str]) -> Frame:
    line = call["line"]
    return Frame(
        call["function"],
        file=call["file"],
        line=int(line) if line else None,
        module=call["module"],
        address=int(call["address"], 16),
    )


BEGINS = re.compile(
    r"^\(lldb\)|^(?:\* | {2})?thread #\d+[,:]|^\s*(?:\* )?frame #\d+: 0x|^Process \d+ (?:stopped|detached|launched)"
)
FORMAT = SectionFormat("lldb", BEGINS, _read, one_thread=False)

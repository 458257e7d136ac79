"""What Python itself prints: an exception's traceback, `traceback.print_stack`, a listing of `sys._current_frames`.

    Process ForkPoolWorker-3:
    Traceback (most recent call last):
      File "/w/pool.py", line 114, in worker
        task = get()
               ^^^^^
    KeyboardInterrupt

    # Thread: QueueFeederThread (139755284166336)
      File "/w/queues.py", line 266, in _feed
        send(obj)

Outermost first, whatever the heading; kept innermost first. Tracebacks of many workers come interleaved, line by line,
in one terminal: no stack is built from those. No process number stands anywhere, so each is a process of its own, but
for the parts of one chain ("During handling ...") and the threads of one listing.
"""

from __future__ import annotations

import re
from typing import Dict, Iterator, Optional

from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.model import Dump, Frame, Process, Thread

PROCESS = re.compile(r"^Process (?P<name>[^\s:]+(?: [^\s:]+)?):$")
IN_THREAD = re.compile(
    r"^(?:Exception in thread (?P<name>.+?)(?::$| \(most likely raised during interpreter shutdown\):$)"
    r"|Exception ignored in.*|Error in .*:)$"
)
LISTED = re.compile(
    r"^[#*=\-\s]*(?i:thread)(?: ?ID)?[: ]+(?P<name>[A-Za-z][\w.-]*(?: \([A-Za-z_]\w*\))?)?[,: ]*"
    r"\(?(?:ident=|id=)?(?P<ident>0x[0-9a-fA-F]+|\d{2,})?\)?[ #*=:-]*$"
)
HEAD = re.compile(r"^\s*(?:Traceback|Stack) \(most recent call last\):$")
FILE = re.compile(r'^\s+File:? "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.+))?$')
SOURCE = re.compile(r"^ {3,}\S|^\t+\S|^  \[Previous line repeated \d+ more times?\]$")
ERROR = re.compile(r"^(?:[A-Za-z_]\w*\.)*(?P<name>[A-Za-z_]\w*)(?P<rest>:(?: .*)?)?$")
SURE = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Timeout|Expired)(?::(?: .*)?)?$")
CHAIN = re.compile(
    r"^(?:During handling of the above exception, another exception occurred:"
    r"|The above exception was the direct cause of the following exception:|\"\"\")$"
)


def _read(lines: Lines) -> Optional[Dump]:
    length = _interleaved(lines)
    if length:
        for _ in range(length):
            lines.skip()
        return Dump()
    stood = lines.at
    label = lines.take(PROCESS)
    threads = tuple(_threads(lines))
    if not threads:
        lines.at = stood
        return None
    process = Process(pid=None, threads=threads, label=label.group() if label else None)
    return Dump(processes=(process,), sources=("traceback",))


def _interleaved(lines: Lines) -> int:
    """How many lines the tracebacks have that stand in each other here; 0 where there is at most one."""
    heads = names = errors = count = 0
    mixed = False
    while True:
        line = lines.after(count)
        is_file = FILE.match(line)
        mixed = mixed or bool(is_file and line == lines.after(count + 1) and '"<' not in line)
        if HEAD.match(line):
            heads += 1
        elif PROCESS.match(line):
            names += 1
        elif ERROR.match(line) and count and (heads or SURE.match(line)):
            errors += 1
        elif not (is_file or (SOURCE.match(line) and count)):
            break
        mixed = mixed or heads - errors > 1 or names - heads > 1
        count += 1
        if errors and errors >= max(heads, names):
            break
    return count if mixed else 0


def _threads(lines: Lines) -> Iterator[Thread]:
    """One thread, and those that belong to it: the rest of a chain or of a listing."""
    said: Dict[str, Optional[str]] = {}
    while True:
        stood = lines.at
        listed = _heading(lines)
        head = lines.take(HEAD)
        frames = tuple(_frames(lines))[::-1]
        error = lines.take(ERROR if head else SURE) if frames or head else None
        if not frames and not error:
            lines.at = stood
            return
        said = listed.groupdict() if listed else said
        ident = said.get("ident")
        yield Thread(
            ident=int(ident, 0) if ident else None,
            name=said.get("name"),
            python=frames,
            error=error.group() if error else None,
        )
        if not _more(lines):
            return


def _heading(lines: Lines) -> Optional[re.Match[str]]:
    """The line that names the thread, where a stack follows it."""
    follows = lines.after(1) or lines.after(2)
    if not (HEAD.match(follows) or FILE.match(follows)):
        return None
    named = lines.take(IN_THREAD) or lines.take(LISTED)
    if named and not lines.next:
        lines.step()
    return named


def _frames(lines: Lines) -> Iterator[Frame]:
    while True:
        match = lines.take(FILE)
        if not match:
            return
        source = None if FILE.match(lines.next) else lines.take(SOURCE)
        while lines.take(SOURCE) if not FILE.match(lines.next) else None:
            pass
        text = source.string.strip() if source else None
        yield Frame(match["function"], match["file"], int(match["line"]), source=text)


def _more(lines: Lines) -> bool:
    """Whether the next stack belongs to this one; then we stand before it."""
    ahead = 0
    chained = False
    while lines.after(ahead) == "" or CHAIN.match(lines.after(ahead)):
        chained = chained or bool(lines.after(ahead))
        ahead += 1
        if ahead > GAP:
            return False
    listed = LISTED.match(lines.after(ahead)) and FILE.match(lines.after(ahead + 1) or lines.after(ahead + 2))
    if not (listed or (chained and HEAD.match(lines.after(ahead)))):
        return False
    lines.at += ahead
    return True


GAP = 5
"""Blank lines and a sentence stand between the parts of a chain."""
BEGINS = re.compile(
    r"^Process [^\s:]+(?: [^\s:]+)?:$|^\s*(?:Traceback|Stack) \(most recent call last\):$"
    r"|^\s+File:? \"[^\"]+\", line \d+"
    r"|^Exception (?:in thread|ignored in)|^Error in .*:$|^[#*=\-\s]*(?i:thread)"
)
FORMAT = SectionFormat("traceback", BEGINS, _read, attaches=False)

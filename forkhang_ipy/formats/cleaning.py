"""Text as people save it becomes plain lines: no colours, no log prefixes, one channel for each source of a log.

    [rank3]: Traceback (most recent call last):
    (RayWorker pid=4242) 2025-01-02 12:00:00,123 ERROR Thread 0x00007f00aa00b6c0 (most recent call first):
    worker-1  | Process 4242: python train.py
    > Thread 4242 (idle): "MainThread"

Lines of several ranks or workers stand interleaved in one log: each prefix has a channel of its own. A line that nobody
can read later is given back with its prefix. Nothing is decided here about what a line means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, Iterator, List, Optional, Tuple

from forkhang_ipy.formats.stretch import Stretch, lines

COLOUR = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
LEVEL = r"(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE|STDERR|STDOUT|stderr|stdout)"
STAMP = (
    r"(?:\d{4}[-/]\d\d[-/]\d\d,?[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: UTC|Z| ?[+-]\d\d:?\d\d)?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]+(?= [\w./-]+\[))"
)
LOG = (
    rf"(?:\[?{STAMP}\]?:?(?: |$)|\[{STAMP}: {LEVEL}/[\w-]+\] |\[?{LEVEL}\]?:?(?: \d\d-\d\d \d\d:\d\d:\d\d)?(?: |$)"
    r"|\[[\w./-]+\.py:\d+\](?: |$)|\{[\w./-]+\.py:\d+\}(?: |$)|(?<= )- )*"
)
PREFIX = re.compile(
    r"(?:\^C)*(?:(?:> ?)(?=(?:> |Thread |Process |#\d| {2,}|\$ |\(gdb\)|Traceback |$)))*"
    + LOG
    + r"(?:(?P<source>\[(?:default|rank)? ?\d+\]:?(?= )|\[\d+,\d+\]<std(?:err|out)>:|\((?=[^()]*\bpid=)[^()]*\)"
    r"|[\w.-]+ +\|(?= |$)|[\w./-]+\[\d+\]:(?= )) ?)?" + LOG
)
NO_PREFIX = (" ", "\t", "#")
"""No prefix begins with these; most lines of a dump do."""
FENCE = re.compile(r"^\s*(?:```|~~~)\w*$")
"""What people put around a dump in an issue."""
PID = re.compile(r"\bpid=(?P<pid>\d+)|^[\w./-]+\[(?P<number>\d+)\]:$")


@dataclass
class Channel:
    """The lines of one source, in order."""

    lines: Stretch
    pid: Optional[int] = None
    """What the prefix says."""
    label: Optional[str] = None
    """The prefix."""


def channels(text: str) -> List[Channel]:
    """The lines of a text without prefixes, one channel for each source. It must be without colours."""
    first = Channel(Stretch(text))
    found: Dict[str, Channel] = {"": first}
    for place, (begin, whole) in enumerate(lines(text)):
        line = _bare(whole)
        source, length = _prefix(line)
        channel = first if not source else found.get(source) or found.setdefault(source, _channel(source, text))
        channel.lines.add(begin + length, len(line) - length, place)
    return [channel for channel in found.values() if len(channel.lines)]


def without_colours(text: str) -> str:
    """The text without escape codes and without a mark of its encoding."""
    return (COLOUR.sub("", text) if "\x1b" in text else text).lstrip("\ufeff")


def plain(text: str) -> Iterator[str]:
    """The lines of a text without colours and line ends."""
    return (_bare(line) for _, line in lines(without_colours(text)))


def _bare(line: str) -> str:
    line = line.rstrip()
    return "" if ("`" in line or "~" in line) and FENCE.match(line) else line


def _prefix(line: str) -> Tuple[str, int]:
    """Who says this line, and how long the prefix is."""
    if not line or line[0] in NO_PREFIX:
        return "", 0
    match = PREFIX.match(line)
    if not match or not match.end():
        return "", 0
    return match["source"] or "", match.end()


def _channel(source: str, text: str) -> Channel:
    pid = PID.search(source)
    return Channel(Stretch(text), pid=int(pid["pid"] or pid["number"]) if pid else None, label=source.strip(" |:"))

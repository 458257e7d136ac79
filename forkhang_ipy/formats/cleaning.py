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
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

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
FENCE = re.compile(r"^\s*(?:```|~~~)\w*$")
"""What people put around a dump in an issue."""
PID = re.compile(r"\bpid=(?P<pid>\d+)|^[\w./-]+\[(?P<number>\d+)\]:$")


@dataclass
class Channel:
    """The lines of one source, in order."""

    pid: Optional[int] = None
    """What the prefix says."""
    label: Optional[str] = None
    """The prefix."""
    lines: List[str] = field(default_factory=list)
    places: List[int] = field(default_factory=list)
    """Where each line stands in the text."""


def channels(text: str) -> List[Channel]:
    """The lines of a text without colours and prefixes, one channel for each source."""
    found: Dict[str, Channel] = {"": Channel()}
    for place, line in enumerate(plain(text)):
        source, length = _prefix(line)
        channel = found.get(source) or found.setdefault(source, _channel(source))
        channel.lines.append(line[length:])
        channel.places.append(place)
    return [channel for channel in found.values() if channel.lines]


def plain(text: str) -> List[str]:
    """The lines of a text without colours and line ends."""
    if "\x1b" in text:
        text = COLOUR.sub("", text)
    lines = (line.rstrip() for line in text.lstrip("\ufeff").splitlines())
    return ["" if FENCE.match(line) else line for line in lines]


def _prefix(line: str) -> Tuple[str, int]:
    """Who says this line, and how long the prefix is."""
    match = PREFIX.match(line)
    if not match or not match.end():
        return "", 0
    return match["source"] or "", match.end()


def _channel(source: str) -> Channel:
    pid = PID.search(source)
    return Channel(pid=int(pid["pid"] or pid["number"]) if pid else None, label=source.strip(" |:"))

"""gdb's `py-bt` and `py-bt-full`, innermost frame first: the Python column of the thread that gdb has selected.

    Traceback (most recent call first):
      <built-in method fork of module object at remote 0x7f00aa112233>
      File "/w/a.py", line 9, in hook
        pid = os.fork()
    #12 Frame 0x7f00aa112233, for file /w/a.py, line 9, in hook (n=3)
    #4 file '/w/a.py', in 'hook'

Its remark "Waiting for the GIL" is a guess from the name of a native call, that is wrong for any timed wait: it is not
read.
"""

from __future__ import annotations

import re
from typing import Iterator, Optional

from forkhang_ipy.formats._base import Lines
from forkhang_ipy.model import Frame

HEAD = re.compile(r"^Traceback \(most recent call first\):$")
FILE = re.compile(r'^\s+File "(?P<file>[^"]*)", line (?P<line>\d+)(?:, in (?P<function>.+))?$')
FULL = re.compile(
    r"^#\d+ +(?:\(frame information optimized out\)|Frame 0x[0-9a-f]+, for file (?P<file>.+?), line "
    r"(?P<line>\d+), in (?P<function>\S+) \(.*)$"
)
OLD = re.compile(r"^#\d+ +file '(?P<file>[^']*)'(?:, line (?P<line>\d+))?, in '(?P<function>[^']*)'$")
BUILT_IN = re.compile(r"^(?:#\d+)?\s+(?P<function><built-in .*>)$")
GUESS = re.compile(r"^(?:#\d+)?\s+Waiting for (?:the GIL|a lock \(e\.g\. GIL\))$")
NOTE = re.compile(
    r"^\s+\(unable to read python frame information\)$|^(?:#\d+)?\s+Garbage-collecting$"
    r"|^Unable to locate python frame.*$"
)
SOURCE = re.compile(r"^ {4,}\S")


def begins(line: str) -> bool:
    """Whether a Python stack begins with this line."""
    return bool(HEAD.match(line) or _numbered(line))


def _numbered(line: str) -> Optional[re.Match[str]]:
    if not line.startswith("#"):
        return NOTE.match(line)
    return FULL.match(line) or OLD.match(line) or BUILT_IN.match(line) or GUESS.match(line)


def frames(lines: Lines) -> Iterator[Frame]:
    """The calls at the front of the lines."""
    lines.take(HEAD)
    while lines:
        match = lines.take(FILE) or lines.take(FULL) or lines.take(OLD) or lines.take(BUILT_IN)
        if match:
            said = match.groupdict()
            source = _source(lines)
            if said.get("function"):
                line = said.get("line")
                yield Frame(said["function"], said.get("file"), int(line) if line else None, source=source)
            while _source(lines):
                pass
        elif GUESS.match(lines.next):
            lines.skip()
        elif not lines.take(NOTE):
            return


def _source(lines: Lines) -> Optional[str]:
    """A line of source that gdb printed under its frame."""
    if FILE.match(lines.next) or BUILT_IN.match(lines.next):
        return None
    match = lines.take(SOURCE)
    return match.string.strip() if match else None

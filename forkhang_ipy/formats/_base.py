"""What a dump format is: how its text is recognised, and how it becomes facts.

A parser reads text and gives a `Dump` that holds just what this text says; `join` puts several together.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Protocol

from forkhang_ipy.model import Dump


@dataclass(frozen=True)
class Format:
    """One of our own records: a whole text."""

    name: str
    recognises: Callable[[str], bool]
    """Cheap: looks for the format's own marks, and is never surprised by any text."""
    parse: Callable[[str], Dump]
    """Reads text that `recognises` accepted."""


@dataclass(frozen=True)
class SectionFormat:
    """A format that people's texts are made of: sections in several formats follow each other in one text."""

    name: str
    begins: re.Pattern[str]
    """Matches a line that a section may begin with."""
    read: Callable[[Lines], Optional[Dump]]
    """Takes the section at the front of the lines; None where it is none, and then no line is taken.

    A process whose number the section does not tell has the pid None. What the section cannot read ends it.
    """
    one_thread: bool = False
    """A section without thread numbers is of the main thread: debuggers and tracers begin there."""
    attaches: bool = True
    """The tool attaches to a process, so a command above that names a process is about it."""


def record_kind(text: str) -> Optional[str]:
    """The kind and schema of one of our own records (`proc/1`), or None for any other text."""
    head = text[:40].replace(" ", "").lstrip()
    mark = '{"forkhang":"'
    return head[len(mark) :].split('"', 1)[0] if head.startswith(mark) else None


def our_record(kind: str) -> Callable[[str], bool]:
    """The test for our own JSON record of this kind."""
    return lambda text: record_kind(text) == kind


def load(text: str) -> Dict[str, Any]:
    """One of our own records as a dict; a torn record is an empty one."""
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def number(text: Optional[str]) -> Optional[int]:
    """A number that is written as decimal or 0x text, or None."""
    try:
        return int(text, 0) if text is not None else None
    except (ValueError, TypeError):
        return None


class Indexed(Protocol):
    """Lines by number, and how many there are."""

    def __len__(self) -> int: ...
    def __getitem__(self, _at: int) -> str: ...


class Lines:
    """The lines of a text, taken one by one from the front; the places of those that nobody reads are in `unread`."""

    def __init__(self, lines: Indexed, known: Callable[[str], bool] = bool) -> None:
        self._lines = lines
        self._count = len(lines)
        self._known = known
        """Whether this line means something, so that it is no noise."""
        self.at = 0
        self.unread: List[int] = []
        self._held_at = -1
        self._held = ""
        """The line there: it is asked for by one pattern after the other."""

    def __bool__(self) -> bool:
        return self.at < self._count

    @property
    def next(self) -> str:
        """The next line, or an empty one at the end."""
        if self._held_at != self.at:
            self._held_at, self._held = self.at, self.after(0)
        return self._held

    def after(self, count: int) -> str:
        """The line that stands this many lines behind the next one, or an empty one."""
        place = self.at + count
        return self._lines[place] if place < self._count else ""

    def take(self, pattern: re.Pattern[str]) -> Optional[re.Match[str]]:
        """The next line, if there is one and it matches; it is then read."""
        match = pattern.match(self.next) if self.at < self._count else None
        if match:
            self.at += 1
        return match

    def over_noise(self, pattern: re.Pattern[str]) -> bool:
        """Pass over one line that means nothing, where the line behind it matches: a log's line inside a stack."""
        line = self.next
        if not line or not pattern.match(self.after(1)) or self._known(line):
            return False
        self.skip()
        return True

    def step(self) -> str:
        """The next line; it is then read."""
        line = self.next
        self.at += 1
        return line

    def skip(self) -> None:
        """Pass over the next line, if there is one; it is unread unless it is blank."""
        if self.next.strip():
            self.unread.append(self.at)
        self.at += 1

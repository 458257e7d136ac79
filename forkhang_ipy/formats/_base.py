"""What a dump format is: how its text is recognised, and how it becomes facts.

A parser reads text and gives a `Dump` that holds just what this text says; `join` puts several together.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional

from forkhang_ipy.model import Dump


@dataclass(frozen=True)
class Format:
    """One dump format."""

    name: str
    recognises: Callable[[str], bool]
    """Cheap: looks for the format's own marks, and is never surprised by any text."""
    parse: Callable[[str], Dump]
    """Reads text that `recognises` accepted. Lines that it cannot read go to `Dump.unread`."""


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


class Lines:
    """The lines of a text, taken one by one from the front; what nobody can read is kept in `unread`."""

    def __init__(self, text: str) -> None:
        self._lines = [line.rstrip() for line in reversed(text.splitlines())]
        self.unread: List[str] = []

    def __bool__(self) -> bool:
        return bool(self._lines)

    def take(self, pattern: re.Pattern[str]) -> Optional[re.Match[str]]:
        """The next line, if it matches; it is then read."""
        match = pattern.match(self._lines[-1]) if self._lines else None
        if match:
            self._lines.pop()
        return match

    def skip(self) -> None:
        """Pass over the next line, if there is one; it is unread unless it is blank."""
        line = self._lines.pop() if self._lines else ""
        if line.strip():
            self.unread.append(line)

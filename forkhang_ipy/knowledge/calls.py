"""A frame to look for, in the words of all tables here.

Patterns are regular expressions: a function must match as a whole, a file, module or line of source anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple


@dataclass(frozen=True)
class Call:
    """A frame to look for; None matches anything."""

    function: Optional[str] = None
    file: Optional[str] = None
    module: Optional[str] = None
    source: Optional[str] = None


Calls = Tuple[Call, ...]
"""Frames to look for on one stack, innermost first; others may stand between."""

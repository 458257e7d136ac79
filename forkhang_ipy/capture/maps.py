"""/proc/PID/maps in, mappings out. No mapped file is opened.

7f36161a2000-7f3616378000 r-xp 00026000 08:01 1835   /usr/lib/x86_64-linux-gnu/libc.so.6
7ffc65990000-7ffc659b1000 rw-p 00000000 00:00 0      [stack]
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional, Sequence, Tuple

from forkhang_ipy.capture import proc_files

if TYPE_CHECKING:
    from pathlib import Path

_LINE = re.compile(
    r"^(?P<low>[0-9a-f]+)-(?P<high>[0-9a-f]+) (?P<permissions>\S{4}) \S+ \S+ \d+ *(?P<name>.*)$", re.MULTILINE
)


@dataclass(frozen=True)
class Mapping:
    """Addresses low to high (exclusive), and what is mapped there."""

    low: int
    high: int
    shared: bool
    name: Optional[str]
    """A path, `[stack]`, `[heap]`; None for anonymous memory."""


def read(folder: Path) -> Tuple[Mapping, ...]:
    """All mappings of the process in this folder of /proc, in order; empty where we may not see them."""
    return tuple(
        Mapping(int(match["low"], 16), int(match["high"], 16), match["permissions"][3] == "s", match["name"] or None)
        for match in _LINE.finditer(proc_files.text(folder / "maps") or "")
    )


def around(mappings: Sequence[Mapping], address: int) -> Optional[Mapping]:
    """The mapping that the address lies in."""
    index = bisect_right([mapping.low for mapping in mappings], address) - 1
    found = mappings[index] if index >= 0 else None
    return found if found and address < found.high else None

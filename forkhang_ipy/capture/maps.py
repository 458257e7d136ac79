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
    r"^(?P<low>[0-9a-f]+)-(?P<high>[0-9a-f]+) (?P<permissions>\S{4}) "
    r"(?P<offset>[0-9a-f]+) (?P<device>\S+) (?P<inode>\d+) *(?P<name>.*)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Mapping:
    """Addresses low to high (exclusive), and what is mapped there."""

    low: int
    high: int
    shared: bool
    name: Optional[str]
    """A path, `[stack]`, `[heap]`; None for anonymous memory."""
    writable: bool = False
    offset: int = 0
    """Where in the file it begins."""
    file: Tuple[str, int] = ("00:00", 0)
    """Device and inode: the same for whoever maps this file."""

    @property
    def is_file(self) -> bool:
        """Whether a file is mapped here, or was until it was deleted."""
        return self.name is not None and self.name.startswith("/")


def read(folder: Path) -> Tuple[Mapping, ...]:
    """All mappings of the process in this folder of /proc, in order; empty where we may not see them."""
    return parse(proc_files.text(folder / "maps") or "")


def parse(text: str) -> Tuple[Mapping, ...]:
    """All mappings in the text of `maps`, in order."""
    return tuple(
        Mapping(
            low=int(match["low"], 16),
            high=int(match["high"], 16),
            shared=match["permissions"][3] == "s",
            name=match["name"] or None,
            writable=match["permissions"][1] == "w",
            offset=int(match["offset"], 16),
            file=(match["device"], int(match["inode"])),
        )
        for match in _LINE.finditer(text)
    )


def around(mappings: Sequence[Mapping], address: int) -> Optional[Mapping]:
    """The mapping that the address lies in."""
    index = bisect_right([mapping.low for mapping in mappings], address) - 1
    found = mappings[index] if index >= 0 else None
    return found if found and address < found.high else None

"""Paths, globs, folders or standard input in; the texts that stand there out, one after the other.

gz and xz are opened by their first bytes, whatever the name. What a text means is no concern of this module.
"""

from __future__ import annotations

import glob
import gzip
import lzma
import re
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, List, Tuple, Union

from forkhang_ipy.errors import FileUnreadable

STANDARD_INPUT = "-"
WAY_OUT = "Give a pid, or the path of a saved dump."
ARCHIVES: Tuple[Tuple[bytes, Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", gzip.decompress),
    (b"\xfd7zXZ\x00", lzma.decompress),
)
ENCODINGS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
"""PowerShell's `>` writes the first; all else is UTF-8, or nearly."""
NO_TEXT = {
    b"\x7fELF": ("a core file or a program", "Take its stacks first: pystack core FILE, or gdb PROGRAM FILE."),
    b"PK\x03\x04": ("a zip archive", "Unpack it first."),
}


@dataclass(frozen=True)
class Place:
    """A file that will be opened."""

    path: str
    """`-` is standard input."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == STANDARD_INPUT else self.path


def places(target: Union[str, Path]) -> Tuple[Place, ...]:
    """The files that a path, a glob or a folder stands for, in the order of the numbers in their names.

    Raises FileUnreadable where there is none.
    """
    if str(target) == STANDARD_INPUT:
        return (Place(STANDARD_INPUT),)
    path = Path(target).expanduser()
    try:
        found = _inside(path) if path.is_dir() else [path] if path.exists() else _matching(str(path))
    except (OSError, ValueError) as error:
        raise FileUnreadable(f"{target} cannot be read: {_reason(error)}.", WAY_OUT) from error
    return tuple(Place(str(each)) for each in sorted(found, key=_by_numbers))


def text(place: Place) -> str:
    """What stands in the file, unpacked. Raises FileUnreadable."""
    try:
        content = sys.stdin.buffer.read() if place.path == STANDARD_INPUT else Path(place.path).read_bytes()
        content = _unpacked(content)
    except FileNotFoundError as error:
        raise FileUnreadable(f"There is no file {place.path}.", WAY_OUT) from error
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise FileUnreadable(f"{place.name} cannot be read: {_reason(error)}.", WAY_OUT) from error
    for mark, (what, way_out) in NO_TEXT.items():
        if content.startswith(mark):
            raise FileUnreadable(f"{place.name} is {what}.", way_out)
    return content.decode(next((name for mark, name in ENCODINGS if content.startswith(mark)), "utf-8"), "replace")


def _inside(folder: Path) -> List[Path]:
    """Every file of a folder and its folders, but for hidden ones."""
    inside = (path for path in folder.rglob("*") if path.is_file())
    found = [path for path in inside if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    if not found:
        raise FileUnreadable(f"{folder} cannot be read: no file is in this folder.", WAY_OUT)
    return found


def _matching(pattern: str) -> List[Path]:
    path = Path(pattern)
    found = list(Path(path.anchor).glob(str(path.relative_to(path.anchor)))) if glob.has_magic(pattern) else [path]
    files = [path for path in found if not path.is_dir()]
    if not files:
        raise FileUnreadable(f"There is no file {pattern}.", WAY_OUT)
    return files


def _by_numbers(path: Path) -> List[Tuple[int, str]]:
    """`rank2` before `rank10`."""
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in re.split(r"(\d{1,18})", str(path))]


def _unpacked(content: bytes) -> bytes:
    for mark, unpack in ARCHIVES:
        if content.startswith(mark):
            return unpack(content)
    return content


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return "it is a torn archive" if not isinstance(error, ValueError) else "its name is none of a file"

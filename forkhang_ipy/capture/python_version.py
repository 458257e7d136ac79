"""A process in, the exact version of its CPython out (`3.8.18`). Nothing is run: the version is read from the file."""

from __future__ import annotations

import mmap
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, Optional, Sequence, Tuple

from forkhang_ipy.capture import proc_files

if TYPE_CHECKING:
    from forkhang_ipy.capture.maps import Mapping

_LIBRARY = re.compile(r"^libpython(?P<minor>3\.\d+)?")
_PROGRAM = re.compile(r"python(?P<minor>3\.\d+)?")
_RELEASE = rb"\.\d+(?:(?:a|b|rc)\d+)?\+?"
# SQLite, which some CPythons carry inside, calls itself 3.40.1: no CPython will for years.
_ANY_MINOR = rb"3\.[12]?\d"


def read(folder: Path, mappings: Sequence[Mapping]) -> Optional[str]:
    """The version of the CPython in the process of this folder of /proc, or None where there is none to be seen."""
    for path, minor in _candidates(folder, mappings):
        try:
            status = Path(path).stat()
        except OSError:
            continue
        version = _version(_File((status.st_dev, status.st_ino, status.st_mtime_ns), path), minor)
        if version:
            return version
    return None


def minor(version: Optional[str]) -> Tuple[int, ...]:
    """The first two numbers of a version (`(3, 13)`), to be compared; empty, and so before all others, for None."""
    return _order(version)[:2] if version else ()


def _candidates(folder: Path, mappings: Sequence[Mapping]) -> Iterator[Tuple[str, Optional[str]]]:
    """The files that may hold the interpreter, each with the minor version that its name tells."""
    for name, low in _first_of_each_name(mappings):
        match = _LIBRARY.match(Path(name).name)
        if match:
            yield f"{folder}/root{name}", match["minor"]
            # The name of a file that an upgrade has replaced ends in "(deleted)"; this door leads to the old one.
            yield f"{folder}/map_files/{low:x}-{_end(mappings, low):x}", match["minor"]
    match = _PROGRAM.search(Path(proc_files.link(folder / "exe") or "").name)
    if match:
        yield f"{folder}/exe", match["minor"]


def _first_of_each_name(mappings: Sequence[Mapping]) -> Iterator[Tuple[str, int]]:
    names = set()
    for mapping in mappings:
        if mapping.name and mapping.name.startswith("/") and mapping.name not in names:
            names.add(mapping.name)
            yield mapping.name, mapping.low


def _end(mappings: Sequence[Mapping], low: int) -> int:
    return next(mapping.high for mapping in mappings if mapping.low == low)


@dataclass(frozen=True)
class _File:
    """A file, the same one whichever path leads to it."""

    identity: Tuple[int, int, int]
    path: str = field(compare=False)


@lru_cache(maxsize=64)
def _version(file: _File, minor: Optional[str]) -> Optional[str]:
    """The text that CPython was compiled with as PY_VERSION."""
    wanted = re.compile(b"(" + (re.escape(minor).encode() if minor else _ANY_MINOR) + _RELEASE + rb")\0")
    try:
        with Path(file.path).open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found = {(content[at.start() - 1 : at.start()], at[1].decode()) for at in wanted.finditer(content)}
    except (OSError, ValueError):
        return None
    # A linker stores the text as the tail of a longer one where it can: `/opt/python/versions/3.8.18`.
    alone = [version for before, version in found if before == b"\0"]
    tails = [version for before, version in found if not before.isdigit() and before != b"."]
    return max(alone or tails, key=_order) if alone or tails else None


def _order(version: str) -> Tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))

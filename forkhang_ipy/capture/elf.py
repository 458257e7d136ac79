"""A process and an address in, out: the library or program whose variable is there, and the variable's name.

The symbol table of the linker (.symtab) knows all variables, and is left out of many files; that of the loader
(.dynsym) knows the exported ones. Structures are those of elf.h, 64 bits, little-endian.
"""

from __future__ import annotations

import stat
import struct
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Dict, Iterator, NamedTuple, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from forkhang_ipy.capture.address_space import AddressSpace
    from forkhang_ipy.capture.maps import Mapping

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_MAGIC = b"\x7fELF\x02\x01"
_SYMTAB, _DYNSYM, _LOAD, _OBJECT = 2, 11, 1, 1
_MOST_SEGMENTS = 64
_PAGE = 4096
_LARGEST_TABLE = 8 << 20
"""350,000 symbols, a tenth of a second; only huge C++ libraries have more."""
_LONGEST_NAME = 256


class Variable(NamedTuple):
    """A variable, and how far behind its beginning the address is that was asked for."""

    name: str
    offset: int


class Images:
    """The libraries and the program of one process."""

    def __init__(self, space: AddressSpace) -> None:
        self._space = space
        self._first: Dict[str, Mapping] = {}
        for mapping in space.mappings:
            if mapping.name and mapping.is_file:
                self._first.setdefault(mapping.name, mapping)
        self._ends: Dict[str, int] = {}

    def at(self, address: int) -> Optional[str]:
        """The file whose variable is at this address.

        Variables that begin as zeros (.bss) are in no file: the loader puts them behind those that are.
        """
        mapping = self._space.mapping(address)
        if mapping is None or mapping.is_file:
            return mapping.name if mapping else None
        before = self._space.mapping(mapping.low - 1)
        if mapping.name or not before or not before.name or not before.is_file or not before.writable:
            return None
        return before.name if address < self._end(before.name) else None

    def variable(self, image: str, address: int) -> Optional[Variable]:
        """The variable of this file that covers the address; None where no table names one."""
        first = self._first[image]
        # A file that was deleted is still behind the second door, where the first leads nowhere.
        folder = self._space.folder
        for path in (f"{folder}/root{image}", f"{folder}/map_files/{first.low:x}-{first.high:x}"):
            try:
                found = Path(path).stat()
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode):
                identity = (found.st_dev, found.st_ino, found.st_mtime_ns)
                return _variable(_File(path, identity), address - first.low + first.offset)
        return None

    def _end(self, image: str) -> int:
        """Where its last variable ends; the beginning of the file, which is mapped first, tells."""
        if image not in self._ends:
            first = self._first[image]
            content = self._space.read(first.low, _PAGE) if not first.offset else b""
            self._ends[image] = first.low + _size(content)
        return self._ends[image]


def _size(content: bytes) -> int:
    """How much memory a file with this beginning takes in all; 0 for what is no library or program."""
    if len(content) < _HEADER.size or not content.startswith(_MAGIC):
        return 0
    header = _HEADER.unpack_from(content)
    ends = range(header[5], len(content) - _SEGMENT.size + 1, _SEGMENT.size)
    segments = [_SEGMENT.unpack_from(content, at) for at in ends[: min(header[10], _MOST_SEGMENTS)]]
    loaded = [segment for segment in segments if segment[0] == _LOAD]
    return max((each[3] + each[6] for each in loaded), default=0) - (loaded[0][3] - loaded[0][2] if loaded else 0)


class _Section(NamedTuple):
    kind: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class _File:
    """A file, the same one whichever path leads to it."""

    path: str = field(compare=False)
    identity: Tuple[int, int, int]


@lru_cache(maxsize=1024)
def _variable(file: _File, offset: int) -> Optional[Variable]:
    try:
        with Path(file.path).open("rb") as opened:
            return _named(opened, offset)
    except (OSError, struct.error, IndexError):
        return None


def _named(file: BinaryIO, offset: int) -> Optional[Variable]:
    header = _HEADER.unpack(file.read(_HEADER.size))
    if not header[0].startswith(_MAGIC):
        return None
    place = offset + _first_address(file, header)
    sections = [_Section(each[1], each[4], each[5], each[6]) for each in _table(file, header[6], _SECTION, header[12])]
    for kind in (_SYMTAB, _DYNSYM):
        for section in sections:
            if section.kind == kind and section.size <= _LARGEST_TABLE:
                found = _in_table(file, section, sections[section.link], place)
                if found:
                    return found
    return None


def _first_address(file: BinaryIO, header: Sequence[int]) -> int:
    """What the linker took for the address of the file's beginning: 0 where the loader is free to choose another."""
    segments = _table(file, header[5], _SEGMENT, header[10])
    return next((each[3] - each[2] for each in segments if each[0] == _LOAD), 0)


def _in_table(file: BinaryIO, symbols: _Section, strings: _Section, place: int) -> Optional[Variable]:
    for name, info, _, _, value, size in _table(file, symbols.offset, _SYMBOL, symbols.size // _SYMBOL.size):
        if value <= place < value + size and info & 0xF == _OBJECT:
            file.seek(strings.offset + name)
            text = file.read(_LONGEST_NAME).partition(b"\0")[0]
            return Variable(text.decode("utf-8", "replace").partition("@")[0], place - value) if text else None
    return None


def _table(file: BinaryIO, offset: int, entry: struct.Struct, count: int) -> Iterator[Tuple[int, ...]]:
    file.seek(offset)
    return entry.iter_unpack(file.read(entry.size * count))

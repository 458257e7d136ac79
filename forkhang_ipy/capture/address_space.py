"""A folder of /proc in, the memory of that process out, as far as it can be read. Nothing is attached to or stopped."""

from __future__ import annotations

import os
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Iterator, Optional

from forkhang_ipy.capture import maps

if TYPE_CHECKING:
    from pathlib import Path

POINTER = struct.Struct("<Q")
"""x86_64 and aarch64 are both little-endian, eight bytes wide."""


@contextmanager
def opened(folder: Path) -> Iterator[AddressSpace]:
    """The memory of the process in this folder, for as long as the block lasts."""
    try:
        memory: Optional[int] = os.open(folder / "mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        memory = None
    try:
        yield AddressSpace(folder, memory)
    finally:
        if memory is not None:
            os.close(memory)


class AddressSpace:
    """The memory of one process; one that we may not read has no bytes anywhere."""

    def __init__(self, folder: Path, memory: Optional[int]) -> None:
        self.folder = folder
        self.mappings = maps.read(folder)
        self._memory = memory

    def read(self, address: int, length: int) -> bytes:
        """The bytes from this address on, up to the first that cannot be read."""
        if self._memory is None:
            return b""
        try:
            return os.pread(self._memory, length, address)
        except (OSError, OverflowError):
            return b""

    def pointer(self, address: int) -> Optional[int]:
        """The eight bytes at this address as a number; None where they cannot be read."""
        content = self.read(address, POINTER.size)
        return int(POINTER.unpack(content)[0]) if len(content) == POINTER.size else None

    def mapping(self, address: int) -> Optional[maps.Mapping]:
        """The mapping that the address lies in."""
        return maps.around(self.mappings, address)

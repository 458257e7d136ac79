"""Numbers in, the places in a process's memory where they stand out: within limits, without stopping it.

Only aligned places in private, writable memory count. Where a lock's owner is most likely comes first: the variables
of the interpreter itself, then the heaps, the small before the large (objects live in many small ones, arrays in few
large ones), then the variables of the libraries, then the live parts of the stacks.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Iterator, List, Optional, Sequence, Set, Tuple

from forkhang_ipy.capture import elf
from forkhang_ipy.capture.address_space import POINTER

if TYPE_CHECKING:
    from forkhang_ipy.capture import maps
    from forkhang_ipy.capture.address_space import AddressSpace
    from forkhang_ipy.capture.sources import Limits

MOST_BYTES = 256 << 20
"""A Python program of 13 to 17 MiB is searched whole in under 0.1 s; beyond this there is mostly data, not objects."""
MOST_SECONDS = 1.0
"""A hang has time, but not the reader; and reading makes the kernel take locks that the process may want."""

_CHUNK = 4 << 20
_PAGE = 4096
_INTERPRETER, _HEAP, _LIBRARY, _STACK = range(4)


@dataclass
class Effort:
    """What the searches in one process may cost, and what they have cost so far."""

    seconds: float = MOST_SECONDS
    size: int = MOST_BYTES
    scanned: int = 0
    spent: float = 0.0
    gave_up: Optional[str] = None
    """At which of the two limits, where a search ended there with something not found."""

    def limit(self) -> Optional[str]:
        """The limit that has been reached."""
        if self.scanned >= self.size:
            return f"after {self.size >> 20} MiB"
        return f"after {self.seconds:.1f} s" if self.spent >= self.seconds else None


@dataclass(frozen=True)
class Region:
    """Addresses low to high (exclusive) that are worth searching."""

    low: int
    high: int


def regions(space: AddressSpace, executable: Optional[str], stack_pointers: Sequence[int]) -> Tuple[Region, ...]:
    """What to search in this process, the likeliest first."""
    images = elf.Images(space)
    ranked: List[Tuple[int, int, Region]] = []
    for mapping in space.mappings:
        low = _live(mapping, stack_pointers)
        is_stack = low is not None or mapping.name == "[stack]"
        rank = _STACK if is_stack else _rank(images.at(mapping.low), executable)
        if rank is not None and mapping.writable and not mapping.shared:
            region = Region(low or mapping.low, mapping.high)
            ranked.append((rank, region.high - region.low, region))
    return tuple(region for _, _, region in sorted(ranked, key=lambda each: each[:2]))


def find(
    space: AddressSpace, wanted: Set[int], where: Sequence[Region], effort: Effort, limits: Limits
) -> Iterator[Tuple[int, int]]:
    """Each number of `wanted` with each address where it stands; the caller may take numbers out of it meanwhile."""
    for region in where:
        for low in range(region.low, region.high, _CHUNK):
            limits.pause(0)
            effort.gave_up = effort.limit() if wanted else None
            if not wanted or effort.gave_up:
                return
            began = time.monotonic()
            content = space.read(low, min(_CHUNK, region.high - low))
            found = [(number, low + place) for number in wanted for place in places(content, number)]
            effort.scanned += len(content)
            effort.spent += time.monotonic() - began
            yield from found
            if not content:
                break


def places(content: bytes, number: int) -> Iterator[int]:
    """The aligned places in these bytes where the number stands."""
    pattern = POINTER.pack(number)
    place = content.find(pattern)
    while place >= 0:
        if place % POINTER.size == 0:
            yield place
        place = content.find(pattern, place + 1)


def _rank(image: Optional[str], executable: Optional[str]) -> Optional[int]:
    """The smaller the likelier; None for what must not be searched, such as a data file, which would be read in."""
    if image is None:
        return _HEAP
    name = PurePath(image.replace(" (deleted)", "")).name
    if image == executable or name.startswith("libpython"):
        return _INTERPRETER
    return _LIBRARY if name.endswith(".so") or ".so." in name else None


def _live(mapping: maps.Mapping, stack_pointers: Sequence[int]) -> Optional[int]:
    """Where the part in use of a stack begins; above it there may be a heap that the kernel joined to it."""
    pointers = [pointer for pointer in stack_pointers if mapping.low <= pointer < mapping.high]
    return min(pointers) // _PAGE * _PAGE if pointers else None

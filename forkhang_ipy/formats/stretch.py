"""Some lines of a large text, in order, without a copy of them: where each begins and how long it is; read in blocks.

A list of the lines of a text takes three times the memory of the text, and a dump of a job with many ranks is large.
"""

from __future__ import annotations

from array import array
from typing import Dict, Iterator, List, Tuple

PIECE = 1 << 20
"""Letters of the text that are cut into lines at a time."""
BLOCK = 1 << 10
"""Lines that are made at a time."""
KEPT = 4
"""Blocks: a parser looks ahead, and goes back to where its section began."""


class Stretch:
    """Lines of a text, taken by their number."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._begins = array("Q")
        self._lengths = array("I")
        self.places = array("I")
        """Where each line stands among all lines of the text."""
        self._held: Dict[int, List[str]] = {}

    def add(self, begin: int, length: int, place: int) -> None:
        """Put a line at the end: where it begins in the text, how long it is, its number there."""
        self._begins.append(begin)
        self._lengths.append(length)
        self.places.append(place)

    def __len__(self) -> int:
        return len(self._begins)

    def __getitem__(self, at: int) -> str:
        block = at // BLOCK
        held = self._held.get(block)
        return (held if held is not None else self._block(block))[at % BLOCK]

    def _block(self, block: int) -> List[str]:
        while len(self._held) >= KEPT:
            del self._held[next(iter(self._held))]
        span = slice(block * BLOCK, (block + 1) * BLOCK)
        text = self._text
        made = [text[begin : begin + length] for begin, length in zip(self._begins[span], self._lengths[span])]
        self._held[block] = made
        return made


def lines(text: str) -> Iterator[Tuple[int, str]]:
    """Each line with its end, and where it begins."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin + PIECE) + 1 or len(text)
        for line in text[begin:end].splitlines(keepends=True):
            yield begin, line
            begin += len(line)

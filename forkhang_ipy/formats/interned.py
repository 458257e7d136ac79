"""Dumps in, the same dumps out, in which equal frames and equal stacks are one object: many ranks stand alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, Tuple

from forkhang_ipy.model import Dump, Frame, Process, Thread


class Interned:
    """The frames and stacks so far."""

    def __init__(self) -> None:
        self._frames: Dict[Frame, Frame] = {}
        self._stacks: Dict[Tuple[int, ...], Tuple[Frame, ...]] = {}

    def dump(self, dump: Dump) -> Dump:
        """The same dump, of which equal parts are shared with those before."""
        return replace(dump, processes=tuple(map(self._process, dump.processes))) if dump.processes else dump

    def _process(self, process: Process) -> Process:
        return replace(process, threads=tuple(map(self._thread, process.threads)))

    def _thread(self, thread: Thread) -> Thread:
        return replace(thread, python=self._stack(thread.python), native=self._stack(thread.native))

    def _stack(self, stack: Tuple[Frame, ...]) -> Tuple[Frame, ...]:
        known = self._frames
        frames = tuple(known.setdefault(frame, frame) for frame in stack)
        return self._stacks.setdefault(tuple(map(id, frames)), frames)

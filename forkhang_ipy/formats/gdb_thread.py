"""One thread as a gdb session shows it, bit by bit: a row of the list, a backtrace, a Python stack, a mutex."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import List, Optional, Tuple

from forkhang_ipy.formats import gdb_frames
from forkhang_ipy.model import Frame, Thread


@dataclass
class Shown:
    """What was shown of it so far."""

    number: Optional[int] = None
    """gdb's own."""
    ident: Optional[int] = None
    tid: Optional[int] = None
    name: Optional[str] = None
    calls: List[str] = field(default_factory=list)
    """The text of each call, innermost first."""
    frames: List[Optional[Frame]] = field(default_factory=list)
    variables: List[List[Tuple[str, str]]] = field(default_factory=list)
    python: List[Frame] = field(default_factory=list)
    last: int = -1
    """The number of its outermost call so far."""
    mutex_owner: Optional[int] = None
    whole: bool = False
    """Its backtrace was printed, not just a row of the list."""

    def add(self, call: str, frame: Frame) -> None:
        """One more call of its backtrace; the first takes the place of the list's row, or of an older backtrace."""
        if not self.whole:
            self.calls, self.frames, self.variables, self.whole = [], [], [], True
        # A wrapped call has its place, and so its file, in a later line.
        place = frame.file or frame.module
        self._append(call, frame if place else gdb_frames.frame(call))

    def add_row(self, call: str) -> None:
        """The innermost call, which the list of threads shows."""
        self._append(call, gdb_frames.frame(call))

    def _append(self, call: str, frame: Optional[Frame]) -> None:
        self.calls.append(call)
        self.frames.append(frame)
        self.variables.append([])

    def thread(self) -> Thread:
        """The noun."""
        frames = [(frame, tuple(seen)) for frame, seen in zip(self.frames, self.variables) if frame]
        return Thread(
            ident=self.ident,
            tid=self.tid,
            name=self.name or None,
            python=tuple(self.python) or tuple(gdb_frames.python_frames(self.calls)),
            native=tuple(replace(frame, locals=seen) if seen else frame for frame, seen in frames),
            wait=gdb_frames.wait(self.calls),
            ghost=False if self.tid is not None else None,
            mutex_owner=self.mutex_owner,
        )

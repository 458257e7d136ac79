"""One thread's two stacks, side by side.

In goes a `Thread` and the `Finding` that points into it; out come rows, innermost first, in which a native frame stands
beside the Python frame that it runs for. The interpreter's own frames and long runs of library frames are folded;
frames of the user's own and decisive ones never. Nothing is rendered here: a cell holds plain text.

Each `_PyEval_EvalFrameDefault` runs one Python frame up to 3.10; since 3.11 it can run several (a Python function that
calls another stays in the same one). Where the numbers differ, only the innermost Python frame's native frames can be
told; the others get rows of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import Dict, FrozenSet, List, Optional, Sequence, Tuple

from forkhang_ipy.model import Column, Finding, Frame, FrameAt, Thread, Verdict
from forkhang_ipy.views import kinds
from forkhang_ipy.views.names import package, place

NOT_BLOCKED = frozenset({Verdict.NOT_HUNG, Verdict.FORK_ERROR})
"""Of such a finding's thread nobody can say that it is blocked."""
INTERPRETER = "interpreter"
FOLD_FROM = 3
"""So many library frames in a row are worth folding."""
NAMED_PACKAGES = 3
"""So many packages are named on a fold."""


class Mark(Enum):
    """What a frame is to the hang, in the words that a reader sees."""

    BLOCKED_HERE = "BLOCKED HERE"
    FORKED_HERE = "FORKED HERE"


@dataclass(frozen=True)
class Cell:
    """One frame, or a fold of several."""

    function: str
    """The function's name; on a fold, how many frames of what."""
    place: str
    proof: Tuple[int, ...] = ()
    """The numbers (from 1) of the sentences of proof that this frame carries."""
    mark: Optional[Mark] = None
    decisive: bool = False
    own: bool = False
    """A Python frame of the user's own, not of a library."""
    folded: Tuple[Frame, ...] = ()
    locals: Tuple[Tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Row:
    """What stands side by side."""

    python: Optional[Cell]
    native: Optional[Cell]

    @property
    def decisive(self) -> bool:
        """One of the two is a frame that the finding points at."""
        return any(cell is not None and cell.decisive for cell in (self.python, self.native))


@dataclass(frozen=True)
class _Pointed:
    """What the finding points at."""

    proof: Dict[FrameAt, Tuple[int, ...]]
    marks: Dict[FrameAt, Mark]
    decisive: FrozenSet[FrameAt]

    def kept(self, at: FrameAt) -> bool:
        return at in self.decisive or at in self.marks


@dataclass(frozen=True)
class _Seat:
    """Where a native frame stands: beside which Python frame, and whether it is sure to run for that one."""

    index: int
    block: int
    sure: bool


def rows(thread: Thread, finding: Optional[Finding] = None) -> Tuple[Row, ...]:
    """The thread's two columns as rows, innermost first; the finding, if any, must be one of this thread."""
    pointed = _pointed(finding, thread)
    seats = _seats(thread, pointed)
    found: List[Row] = []
    for first, last, cell in _python_cells(thread.python, pointed):
        beside = [seat for seat in seats if first <= seat.block <= last]
        found.extend(_rows_of(cell, _native_cells(beside, thread.native, pointed)))
    outside = [seat for seat in seats if seat.block >= len(thread.python)]
    found.extend(Row(None, cell) for cell, _ in _native_cells(outside, thread.native, pointed))
    return tuple(found)


def _pointed(finding: Optional[Finding], thread: Thread) -> _Pointed:
    if finding is None:
        return _Pointed({}, {}, frozenset())
    proof: Dict[FrameAt, Tuple[int, ...]] = {}
    for number, evidence in enumerate(finding.evidence, start=1):
        for at in dict.fromkeys(evidence.frames):
            proof[at] = (*proof.get(at, ()), number)
    decisive = frozenset(finding.frames) | frozenset(proof)
    return _Pointed(proof, _marks(finding, thread), decisive)


def _marks(finding: Finding, thread: Thread) -> Dict[FrameAt, Mark]:
    marks = {finding.fork_site[-1]: Mark.FORKED_HERE} if finding.fork_site else {}
    if finding.verdict in NOT_BLOCKED:
        return marks
    inner_first = sorted(finding.frames, key=lambda at: (at.column is Column.PYTHON, at.index))
    native = dict(enumerate(thread.native))
    wanting = [at for at in inner_first if at.column is Column.PYTHON or not _waits(native.get(at.index))]
    for at in (wanting or inner_first)[:1]:
        marks[at] = Mark.BLOCKED_HERE
    return marks


def _waits(frame: Optional[Frame]) -> bool:
    return frame is not None and kinds.waits_in_libc(frame)


# --- the Python column -----------------------------------------------------------------------------------------------


def _python_cells(frames: Sequence[Frame], pointed: _Pointed) -> List[Tuple[int, int, Cell]]:
    """First and last index that a cell covers, and the cell."""

    def folds(index: int) -> bool:
        at = FrameAt(Column.PYTHON, index)
        return index > 0 and not pointed.kept(at) and package(frames[index].file) is not None

    cells: List[Tuple[int, int, Cell]] = []
    for foldable, run in groupby(range(len(frames)), key=folds):
        indices = list(run)
        if foldable and len(indices) >= FOLD_FROM:
            cells.append((indices[0], indices[-1], _python_fold([frames[index] for index in indices])))
        else:
            cells.extend((one, one, _cell(frames[one], FrameAt(Column.PYTHON, one), pointed)) for one in indices)
    return cells


def _python_fold(frames: Sequence[Frame]) -> Cell:
    names = list(dict.fromkeys(package(frame.file) or "" for frame in frames))
    shown = names if len(names) <= NAMED_PACKAGES else [*names[: NAMED_PACKAGES - 1], "others"]
    words = " and ".join([part for part in (", ".join(shown[:-1]), shown[-1]) if part])
    return Cell(f"{len(frames)} frames of {words}", "", folded=tuple(frames))


# --- the native column -----------------------------------------------------------------------------------------------


def _seats(thread: Thread, pointed: _Pointed) -> List[_Seat]:
    """Each native frame's place; the way from one Python frame's C code out to the next stands beside the next."""
    last = len(thread.python) - 1
    segments = _segments(thread.native)
    entries = sum(map(kinds.evaluates, thread.native))
    visible = [not _folds(index, thread.native, pointed) for index in range(len(thread.native))]
    last_visible = {segment: index for index, segment in enumerate(segments) if visible[index]}
    seats: List[_Seat] = []
    outside = last < 0
    for index, segment in enumerate(segments):
        outside = outside or (visible[index] and segment == entries > 0)
        tail = index > last_visible.get(segment, -1)
        block = last + 1 if outside else min(segment + tail, last)
        seats.append(_Seat(index, block, entries == len(thread.python) or segment == 0))
    return seats


def _segments(frames: Sequence[Frame]) -> List[int]:
    """For each native frame, how many entries of the evaluation loop are inner to it."""
    found, passed = [], 0
    for frame in frames:
        found.append(passed)
        passed += kinds.evaluates(frame)
    return found


def _folds(index: int, frames: Sequence[Frame], pointed: _Pointed) -> Optional[str]:
    """Whose frame it is, if it is to be folded: `interpreter`, or a vendor's name."""
    if pointed.kept(FrameAt(Column.NATIVE, index)):
        return None
    return INTERPRETER if kinds.belongs_to_interpreter(frames[index]) else kinds.vendor(frames[index])


def _native_cells(seats: Sequence[_Seat], frames: Sequence[Frame], pointed: _Pointed) -> List[Tuple[Cell, bool]]:
    """The cells, and whether each is sure to run for the Python frame of its seat."""
    cells: List[Tuple[Cell, bool]] = []
    for folds, run in groupby(seats, key=lambda seat: _folds(seat.index, frames, pointed)):
        group = list(run)
        if folds:
            words = f"{len(group)} {folds} frame{'s' if len(group) > 1 else ''}"
            cells.append((Cell(words, "", folded=tuple(frames[seat.index] for seat in group)), False))
        else:
            cells.extend((_native_cell(seat, frames, pointed), seat.sure) for seat in group)
    return cells


def _native_cell(seat: _Seat, frames: Sequence[Frame], pointed: _Pointed) -> Cell:
    return _cell(frames[seat.index], FrameAt(Column.NATIVE, seat.index), pointed)


# --- both ------------------------------------------------------------------------------------------------------------


def _rows_of(python: Cell, natives: Sequence[Tuple[Cell, bool]]) -> List[Row]:
    """The Python cell beside the outermost frame that runs for it, else beside a fold, else in a row of its own."""
    sure = [index for index, (_, runs_for_it) in enumerate(natives) if runs_for_it]
    by_itself = len(natives)
    beside_fold = by_itself - 1 if natives and natives[-1][0].folded else by_itself
    beside = sure[-1] if sure else beside_fold
    found = [Row(python if index == beside else None, native) for index, (native, _) in enumerate(natives)]
    return found if beside < by_itself else [*found, Row(python, None)]


def _cell(frame: Frame, at: FrameAt, pointed: _Pointed) -> Cell:
    return Cell(
        function=frame.function or "(no name)",
        place=place(frame),
        proof=pointed.proof.get(at, ()),
        mark=pointed.marks.get(at),
        decisive=at in pointed.decisive or pointed.marks.get(at) is Mark.BLOCKED_HERE,
        own=at.column is Column.PYTHON and package(frame.file) is None,
        locals=frame.locals,
    )

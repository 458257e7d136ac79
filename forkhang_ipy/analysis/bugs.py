"""Which of CPython's own bugs a thread shows: those that this version has, and whose frames stand on the stack."""

from __future__ import annotations

from typing import Iterator, Optional, Sequence, Tuple

from forkhang_ipy.knowledge.cpython import BUGS, Bug
from forkhang_ipy.knowledge.signatures import SIGNATURES
from forkhang_ipy.model import Frame, Thread

NAMED = frozenset(signature.bug for signature in SIGNATURES if signature.bug)
"""Bugs that a signature names are told with it, and proven there."""


def shown(thread: Thread, version: Optional[str]) -> Iterator[Bug]:
    """The bugs beyond those of the signatures that this version has and this stack shows."""
    for bug in BUGS:
        known = version is not None and bug.range_with(version) is not None
        if known and bug not in NAMED and bug.python and _shows(bug, thread):
            yield bug


def _shows(bug: Bug, thread: Thread) -> bool:
    native = [frame.function or "" for frame in thread.native]
    by_native = not bug.native or not native or any(_in_order(names, native) for names in bug.native)
    found = {file for file, function in bug.python if any(_is_at((file, function), frame) for frame in thread.python)}
    # A queue's frames alone are no executor's: a bug that spans several files must show in two of them.
    return by_native and len(found) >= min(2, len({file for file, _ in bug.python}))


def _in_order(names: Sequence[str], functions: Sequence[str]) -> bool:
    rest = iter(functions)
    return all(any(name == function.split(".")[0] for function in rest) for name in names)


def _is_at(place: Tuple[str, str], frame: Frame) -> bool:
    file, function = place
    return (frame.file or "").endswith(file) and (frame.function or "").split(".")[-1] == function

"""Processes in; whatever is done to them meanwhile, afterwards none is stopped or traced that was not before."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable, Iterator, Tuple

from forkhang_ipy.capture import proc_files

if TYPE_CHECKING:
    from pathlib import Path

_STOPPED = frozenset("Tt")
_PATIENCE = 2.0
_GLANCE = 0.005
# A task that has just taken a signal is for a moment between two states.
_LOOKS = 2
_SIGSTOP = 1 << (signal.SIGSTOP - 1)


@dataclass(frozen=True)
class _Found:
    """A process as it was found; the start time tells it from a later one with the same pid."""

    pid: int
    started: int
    stopped: bool


@contextmanager
def left_as_found(pids: Iterable[int], root: Path = proc_files.PROC) -> Iterator[None]:
    """Within, debuggers of ours come and go, and may be ended by force; at the end their traces are removed."""
    found = tuple(_found(pids, root))
    try:
        yield
    finally:
        _restore(found, root)


def _found(pids: Iterable[int], root: Path) -> Iterator[_Found]:
    for pid in pids:
        look = proc_files.stat(root / str(pid))
        if look:
            yield _Found(pid, look.started, _is_stopped(pid, root))


def _restore(found: Tuple[_Found, ...], root: Path) -> None:
    """Let each go on that a tracer of ours left stopped; one that another debugger holds is left to it."""
    deadline = time.monotonic() + _PATIENCE
    quiet = 0
    while quiet < _LOOKS and time.monotonic() < deadline:
        disturbed = [each for each in found if _is_disturbed(each, root)]
        quiet = 0 if disturbed else quiet + 1
        for each in disturbed:
            if not proc_files.tracer(root / str(each.pid)):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(each.pid, signal.SIGCONT)
        if quiet < _LOOKS:
            time.sleep(_GLANCE)


def _is_disturbed(found: _Found, root: Path) -> bool:
    folder = root / str(found.pid)
    look = None if found.stopped else proc_files.stat(folder)
    is_same = look is not None and look.started == found.started
    return is_same and (_is_stopped(found.pid, root) or _is_about_to_stop(folder))


def _is_stopped(pid: int, root: Path) -> bool:
    return not _STOPPED.isdisjoint(proc_files.states(root / str(pid)).values())


def _is_about_to_stop(folder: Path) -> bool:
    """Whether a task has yet to take the SIGSTOP that it was sent; SIGCONT takes that back as well."""
    tids = proc_files.numbered(folder / "task")
    statuses = (proc_files.status(folder / "task" / str(tid)) for tid in tids)
    pending = (int(status.get(kind, "0"), 16) for status in statuses for kind in ("SigPnd", "ShdPnd"))
    return any(signals & _SIGSTOP for signals in pending)

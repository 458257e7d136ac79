"""A pid in, records out: all that can be seen of this process, its parent and its descendants, source by source.

Order matters. /proc and memory are read first, /proc as often as samples are asked for, since a debugger wakes the
tasks that it attaches to; then the native stacks, all of them; then the Python stacks, side by side. A source that
fails leaves a gap, and the next of its ladder is asked: py-spy, py-spy again, pystack; libdw, gdb.
"""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Tuple

from forkhang_ipy.capture import (
    gdb,
    memory,
    native,
    objects,
    own,
    permissions,
    proc_files,
    procfs,
    py_spy,
    pystack,
    sharing,
    tree,
)
from forkhang_ipy.capture.admission import admit, gone
from forkhang_ipy.capture.attachable import choose
from forkhang_ipy.capture.left_as_found import left_as_found
from forkhang_ipy.capture.sources import Limits, SourceFailed
from forkhang_ipy.capture.uninterrupted import uninterrupted
from forkhang_ipy.model import Gap

if TYPE_CHECKING:
    import threading

    from forkhang_ipy.capture.procfs import ProcRecord
    from forkhang_ipy.capture.tree import Family

FORMAT = "capture/1"

_PYTHON, _NATIVE = "python stack", "native stack"


@dataclass(frozen=True)
class Options:
    """What to look at, and how long."""

    native: bool = True
    """Native stacks as well."""
    locals: bool = False
    """Local variables as well, where py-spy gives them."""
    samples: int = 2
    """Looks at /proc; from two on it can be told whether anything moves."""
    interval: float = 0.5
    """Seconds between two looks."""
    timeout: float = 10.0
    """Seconds, for each source and process."""


@dataclass
class _Capture:
    """What has been collected so far. The worker threads of one capture add to it; list.append is atomic."""

    target: int
    options: Options
    limits: Limits
    started: Dict[int, int] = field(default_factory=dict)
    """When each process that was seen had been started, in the kernel's ticks."""
    looks: List[Dict[int, ProcRecord]] = field(default_factory=list)
    """One dict for each sample, by pid."""
    texts: List[str] = field(default_factory=list)
    gaps: List[Gap] = field(default_factory=list)

    @property
    def last(self) -> Dict[int, ProcRecord]:
        return self.looks[-1]

    @property
    def sample(self) -> int:
        return len(self.looks) - 1

    def failed(self, pid: int, what: str, failure: SourceFailed) -> None:
        self.gaps.append(Gap(pid, what, failure.why, failure.hint))


def records(pid: int, options: Options = Options()) -> Tuple[str, ...]:
    """Every record of this process and its family, the `capture/1` record last; TargetError for a bad target."""
    return uninterrupted(lambda given_up: _records(pid, options, given_up))


def _records(pid: int, options: Options, given_up: threading.Event) -> Tuple[str, ...]:
    taken = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    admit(pid)
    capture = _Capture(pid, options, Limits(options.timeout, given_up))
    family = _watch(capture)
    capture.texts += memory.records(capture.last)
    capture.texts += objects.records(capture.last, pid, capture.limits)
    capture.texts += sharing.records(capture.last, capture.limits)
    attachable, gaps = choose(family, capture.last)
    capture.gaps += gaps
    with left_as_found(attachable):
        if options.native:
            _native_stacks(capture, attachable)
        _python_stacks(capture, attachable)
    ended = _ended(capture)
    looks = [json.dumps(look, separators=(",", ":")) for sample in capture.looks for look in sample.values()]
    return (*looks, *capture.texts, _summary(capture, taken, ended))


def _watch(capture: _Capture) -> Family:
    """Take the samples of /proc; the family as it is at the last one."""
    for sample in range(max(1, capture.options.samples)):
        if sample:
            capture.limits.pause(capture.options.interval)
        family = tree.family(capture.target)
        looks = (procfs.read(pid, sample, time.monotonic()) for pid in family.pids)
        capture.looks.append({look["pid"]: look for look in looks if look})
        for pid in capture.last:
            look = proc_files.stat(proc_files.PROC / str(pid))
            if look:
                capture.started.setdefault(pid, look.started)
        if not sample and capture.target not in capture.last:
            raise gone(capture.target)
    return family


def _native_stacks(capture: _Capture, pids: Tuple[int, ...]) -> None:
    """From libdw for all, from gdb for those where it fails. Those which burn cpu are looked at once more before."""
    busy = tuple(pid for pid in pids if _is_busy(capture, pid))
    rounds = [native.Round(capture.sample - 1, busy)] if busy else []
    rounds.append(native.Round(capture.sample, pids))
    here = any(permissions.only_from_here(pid) for pid in pids)
    try:
        unwound = native.unwind(rounds, capture.options.interval, capture.limits, here=here)
    except SourceFailed as failure:
        unwound = native.Unwound((), dict.fromkeys(pids, (failure.why, failure.hint)))
    capture.texts += unwound.records
    for pid, reason in unwound.failures.items():
        capture.failed(pid, _NATIVE, SourceFailed(*reason))
        if not permissions.obstacle(pid):
            _attempt(capture, pid, _NATIVE, partial(gdb.native_stacks, pid, capture.limits))


def _is_busy(capture: _Capture, pid: int) -> bool:
    """Whether any task used cpu between the last two samples."""
    looks = [look[pid] for look in capture.looks[-2:] if pid in look]
    before = {task["tid"]: task["ticks"] for task in looks[0]["tasks"]}
    return any(task["ticks"] > before.get(task["tid"], task["ticks"]) for task in looks[-1]["tasks"])


def _python_stacks(capture: _Capture, attachable: Tuple[int, ...]) -> None:
    """Several processes side by side; ourselves, where we are of the family, without a debugger."""
    if os.getpid() in capture.last:
        capture.texts.append(own.python_stacks(capture.sample))
    pythons = [pid for pid in attachable if capture.last[pid]["python"]]
    with ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="forkhang") as pool:
        for done in [pool.submit(_python_stack, capture, pid) for pid in pythons]:
            done.result()


def _python_stack(capture: _Capture, pid: int) -> None:
    """Climb down the ladder until a source gives the stack."""
    here = permissions.only_from_here(pid)
    by_py_spy = partial(py_spy.python_stacks, pid, capture.limits, local_variables=capture.options.locals)
    by_pystack = partial(pystack.python_stacks, pid, capture.sample, capture.limits, here=here)
    # A first failure is often a thread that was made or ended just then: it is not told, but tried again.
    seen = not here and (
        _attempt(capture, pid, _PYTHON, by_py_spy, told=False) or _attempt(capture, pid, _PYTHON, by_py_spy)
    )
    if not seen:
        _attempt(capture, pid, _PYTHON, by_pystack)


def _attempt(capture: _Capture, pid: int, what: str, source: Callable[[], str], *, told: bool = True) -> bool:
    """Ask one source for one process, and add its record or, where the failure is to be told, a gap."""
    try:
        capture.texts.append(source())
    except SourceFailed as failure:
        if told:
            capture.failed(pid, what, failure)
        return False
    return True


def _ended(capture: _Capture) -> Tuple[int, ...]:
    """The processes that were alive when they were first seen and are not now; their other gaps say no more."""
    ended = tuple(sorted(pid for pid, started in capture.started.items() if _has_ended(capture, pid, started)))
    capture.gaps[:] = [gap for gap in capture.gaps if gap.process not in ended]
    for pid in ended:
        capture.gaps.append(
            Gap(pid, "the process", "it ended while it was looked at", "Look again: what is left is a new situation.")
        )
    return ended


def _has_ended(capture: _Capture, pid: int, started: int) -> bool:
    first: Optional[ProcRecord] = next((sample[pid] for sample in capture.looks if pid in sample), None)
    if first and first["state"] == "Z":
        return False
    now = proc_files.stat(proc_files.PROC / str(pid))
    return not now or now.started != started or now.state == "Z"


def _summary(capture: _Capture, taken: str, ended: Tuple[int, ...]) -> str:
    document = {
        "forkhang": FORMAT,
        "target": capture.target,
        "taken": taken,
        "tool": "forkhang_ipy",
        "samples": len(capture.looks),
        "gaps": [{"process": gap.process, "what": gap.what, "why": gap.why, "try": gap.hint} for gap in capture.gaps],
        "ended": list(ended),
    }
    return json.dumps(document, separators=(",", ":"))

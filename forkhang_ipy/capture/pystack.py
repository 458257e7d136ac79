"""A pid in, a `stacks/1` record of its Python stacks out, by pystack's engine: it sees what py-spy often does not.

It runs in an interpreter apart, so that it can be ended by force; only where the kernel would refuse that one, here.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from forkhang_ipy.capture import apart, stacks
from forkhang_ipy.capture.sources import Limits, SourceFailed, run

if TYPE_CHECKING:
    from pystack.types import PyThread

SOURCE = "pystack"

_HINT = "See what `forkhang doctor` says of this process."
_INSTALL = "pip install pystack, into the environment that forkhang_ipy is in."


def python_stacks(pid: int, sample: int, limits: Limits, *, here: bool = False) -> str:
    """The record; SourceFailed where pystack is missing or cannot find the interpreter."""
    if here:
        return python_stacks_here(pid, sample)
    output = run(apart.command(__name__, [pid, sample]), limits)
    if output.code:
        last = (output.stderr.strip().splitlines() or [f"it ended with status {output.code}"])[-1]
        raise SourceFailed(f"pystack: {last}", _HINT)
    answer = json.loads(output.stdout)
    if "record" in answer:
        return str(answer["record"])
    raise SourceFailed(*answer["failed"])


def main(job: str) -> None:
    """What the interpreter apart does: print the answer as JSON."""
    pid, sample = json.loads(job)
    try:
        record = python_stacks_here(pid, sample)
    except SourceFailed as failure:
        sys.stdout.write(json.dumps({"failed": [failure.why, failure.hint]}))
    else:
        sys.stdout.write(json.dumps({"record": record}))


def python_stacks_here(pid: int, sample: int) -> str:
    """The same in this process, where nothing can end it but its own end."""
    try:
        from pystack.engine import NativeReportingMode, get_process_threads  # - heavy
        from pystack.errors import PystackError  # - the same
    except ImportError as error:
        raise SourceFailed("pystack is not installed", _INSTALL) from error
    try:
        threads = list(get_process_threads(pid, stop_process=True, native_mode=NativeReportingMode.OFF))
    except (PystackError, OSError) as error:
        reason = str(error).strip().partition("\n")[0] or "it gave no reason"
        raise SourceFailed(f"pystack: {reason}", _HINT) from error
    if not threads:
        raise SourceFailed("pystack: it found no thread", _HINT)
    return stacks.record(pid, sample, SOURCE, [_thread(thread) for thread in threads])


def _thread(thread: PyThread) -> stacks.ThreadRecord:
    """Turn its frames round, which begin at the outermost; it has no pthread id, and TID 0 for a thread without one."""
    frames = [
        stacks.PythonFrame(function=frame.code.scope, file=frame.code.filename, line=frame.code.location.lineno)
        for frame in thread.frames
    ]
    return stacks.ThreadRecord(
        tid=thread.tid or None,
        ident=None,
        name=None,
        gil={0: False, 1: True}.get(thread.holds_the_gil),
        python=frames[::-1],
        native=[],
    )

"""Nothing in, a `stacks/1` record of this very process out: its Python stacks. Nobody can attach to himself."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional

from forkhang_ipy.capture import stacks

if TYPE_CHECKING:
    from types import FrameType

SOURCE = "python"

_PACKAGE = str(Path(__file__).resolve().parent.parent) + os.sep
_OUR_THREADS = "forkhang"


def python_stacks(sample: int) -> str:
    """The Python stack of each thread of ours, less what this package itself does in them."""
    threads = {thread.ident: thread for thread in threading.enumerate()}
    found = [
        _thread(ident, threads.get(ident), frame)
        for ident, frame in sys._current_frames().items()  # noqa: SLF001 - documented, in spite of its name
        if not _is_ours(threads.get(ident))
    ]
    return stacks.record(os.getpid(), sample, SOURCE, found)


def _is_ours(thread: Optional[threading.Thread]) -> bool:
    return thread is not None and thread.name.startswith(_OUR_THREADS)


def _thread(ident: int, thread: Optional[threading.Thread], frame: FrameType) -> stacks.ThreadRecord:
    return stacks.ThreadRecord(
        tid=thread.native_id if thread else None,
        ident=hex(ident),
        name=thread.name if thread else None,
        gil=None,
        python=_frames(frame),
        native=[],
    )


def _frames(innermost: FrameType) -> List[stacks.PythonFrame]:
    """From the innermost on; a thread that looks at itself through us is shown from where it called us."""
    frames = []
    frame: Optional[FrameType] = innermost
    while frame:
        frames.append(frame)
        frame = frame.f_back
    ours = [index for index, each in enumerate(frames) if each.f_code.co_filename.startswith(_PACKAGE)]
    return [
        stacks.PythonFrame(function=each.f_code.co_name, file=each.f_code.co_filename, line=each.f_lineno)
        for each in frames[ours[-1] + 1 if ours else 0 :]
    ]

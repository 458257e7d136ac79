"""`py-spy dump --json`: a list of threads, innermost frame first, with no header.

    [{"pid": 4242, "thread_id": 139755284166336, "thread_name": "MainThread", "os_thread_id": 4242, "active": true,
      "owns_gil": true, "frames": [{"name": "do_fork", "filename": "/w/train.py", "module": null, "line": 11,
                                    "locals": [{"name": "n", "repr": "3"}]}]}]

A native frame has a module. `os_thread_id` is the parent's in a child that hangs early; `thread_id`, the pthread id,
is always right.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Tuple

from forkhang_ipy.formats._base import Format
from forkhang_ipy.model import Dump, Frame, Process, Thread


def _recognises(text: str) -> bool:
    return text.lstrip()[:1] == "[" and '"thread_id"' in text and '"frames"' in text


def _parse(text: str) -> Dump:
    try:
        threads = json.loads(text)
    except ValueError:
        return Dump(unread=tuple(text.splitlines()))
    pids: List[Optional[int]] = []
    for thread in threads:
        if thread.get("pid") not in pids:
            pids.append(thread.get("pid"))
    processes = tuple(
        Process(pid=pid, threads=tuple(_thread(thread) for thread in threads if thread.get("pid") == pid))
        for pid in pids
    )
    return Dump(processes=processes, sources=("py-spy",))


def _thread(thread: Dict[str, Any]) -> Thread:
    frames = [_frame(frame) for frame in thread.get("frames", [])]
    return Thread(
        ident=thread.get("thread_id"),
        tid=thread.get("os_thread_id"),
        name=thread.get("thread_name"),
        python=tuple(frame for frame in frames if frame.module is None),
        native=tuple(frame for frame in frames if frame.module is not None),
        holds_gil=thread.get("owns_gil"),
    )


def _frame(frame: Dict[str, Any]) -> Frame:
    module = frame.get("module")
    unresolved = frame.get("filename") == "?" and not frame.get("line")
    return Frame(
        function=frame.get("name"),
        file=frame.get("filename") if not (module or unresolved) else None,
        line=frame.get("line") or None,
        module=module or ("?" if unresolved else None),
        locals=_locals(frame.get("locals")),
    )


def _locals(variables: Optional[List[Dict[str, Any]]]) -> Tuple[Tuple[str, str], ...]:
    return tuple((variable.get("name", "?"), variable.get("repr") or "?") for variable in variables or ())


FORMAT = Format("py-spy JSON", _recognises, _parse)

"""`py-spy dump --json`: a list of threads, innermost frame first, with no header.

    [{"pid": 4242, "thread_id": 139755284166336, "thread_name": "MainThread", "os_thread_id": 4242, "active": true,
      "owns_gil": true, "frames": [{"name": "do_fork", "filename": "/w/train.py", "module": null, "line": 11,
                                    "locals": [{"name": "n", "repr": "3"}]}]}]

A native frame has a module. `os_thread_id` is the parent's in a child that hangs early; `thread_id`, the pthread id,
is always right. A torn list is not read.
"""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Optional, Tuple

from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.model import Dump, Frame, Process, Thread

END = re.compile(r"^\]$|^.*\]\s*$(?<=\}\])")
LONGEST = 1_000_000
"""Lines of one list: a bracket that is never closed ends somewhere."""


def _read(lines: Lines) -> Optional[Dump]:
    threads, length = _list(lines)
    if not threads:
        return None
    for _ in range(length):
        lines.step()
    pids: List[Optional[int]] = list(dict.fromkeys(thread.get("pid") for thread in threads))
    processes = tuple(
        Process(pid=pid, threads=tuple(_thread(thread) for thread in threads if thread.get("pid") == pid))
        for pid in pids
    )
    return Dump(processes=processes, sources=("py-spy",))


def _list(lines: Lines) -> Tuple[List[Dict[str, Any]], int]:
    """The list that begins here and how many lines it has; an empty one where it is no list of threads."""
    text: List[str] = []
    nested = lines.next.strip() == "["
    for count in range(LONGEST):
        line = lines.after(count)
        text.append(line)
        if (line == "]") if nested else END.match(line):
            return _loaded("\n".join(text)), count + 1
        if not line or (nested and count and not line.startswith((" ", "\t", "{", "}"))):
            break
    return [], 0


def _loaded(text: str) -> List[Dict[str, Any]]:
    try:
        threads = json.loads(text)
    except (ValueError, RecursionError):
        return []
    fits = isinstance(threads, list) and all(_is_thread(thread) for thread in threads)
    return threads if fits else []


def _is_thread(thread: object) -> bool:
    return isinstance(thread, dict) and "thread_id" in thread and isinstance(thread.get("frames"), list)


def _thread(thread: Dict[str, Any]) -> Thread:
    frames = [_frame(frame) for frame in thread.get("frames", [])]
    return Thread(
        ident=thread.get("thread_id"),
        tid=thread.get("os_thread_id"),
        name=thread.get("thread_name"),
        python=tuple(frame for frame in frames if frame.module is None),
        native=tuple(frame for frame in frames if frame.module is not None),
        holds_gil=thread.get("owns_gil"),
        active=thread.get("active"),
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


FORMAT = SectionFormat("py-spy JSON", re.compile(r"^\[$|^\[\s*\{"), _read)

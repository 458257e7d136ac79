"""Folded stacks: one line a stack, outermost call first, the number of looks last.

    process 4242:"python train.py";thread (0x7F00AA00B6C0): "MainThread";<module> (train.py:13);do_fork (train.py:11) 97
    State@S;main@train.py@13;do_fork@train.py@11 1

`py-spy record --format raw` writes the first, dlrover the second. A thread that was met with several stacks keeps the
one that was met most often.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Dict, List, Optional, Tuple

from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.formats.py_spy_text import frame
from forkhang_ipy.model import Dump, Frame, Process, Thread

LINE = re.compile(r"^(?P<stack>[^;]+(?:;[^;]+)+);? (?P<looks>\d+)$")
PROCESS = re.compile(r"^process (?P<pid>\d+):\"?(?P<command>.*?)\"?$")
THREAD = re.compile(r"^thread \((?P<id>0[xX][0-9a-fA-F]+|\d+)\)(?:: \"?(?P<name>.*?)\"?)?$")
CALL = re.compile(r"^(?P<function>\S.*?) \((?P<file>[^()]*?|<[^<>]*>)(?::(?P<line>\d+))?\)$")
PLACED = re.compile(r"^(?P<function>[^@]*)@(?P<file>[^@]*)@(?P<line>\d+)?[-\d/|]*$")
STATE = re.compile(r"^State@(?P<state>[A-Za-z])\w*$")
Key = Tuple[Optional[int], Optional[str], Optional[Frame]]


def _read(lines: Lines) -> Optional[Dump]:
    processes: Dict[Optional[int], Process] = {}
    best: Dict[Optional[int], Dict[Key, Tuple[int, Thread]]] = {}
    while True:
        match = LINE.match(lines.next)
        parts = match["stack"].split(";") if match else []
        process, thread = _stack(parts)
        if not match or thread is None:
            break
        lines.step()
        processes.setdefault(process.pid, process)
        threads = best.setdefault(process.pid, {})
        outermost = (thread.python or thread.native)[-1]
        key = (thread.ident or thread.tid, thread.name, None if thread.ident or thread.tid else outermost)
        if key not in threads or int(match["looks"]) > threads[key][0]:
            threads[key] = (int(match["looks"]), thread)
    if not best:
        return None
    return Dump(
        processes=tuple(_filled(process, list(best[pid].values())) for pid, process in processes.items()),
        sources=("folded stacks",),
    )


def _filled(process: Process, threads: List[Tuple[int, Thread]]) -> Process:
    return replace(process, threads=tuple(thread for _, thread in threads))


def _stack(parts: List[str]) -> Tuple[Process, Optional[Thread]]:
    """The process and the thread of one line; no thread where some part is no call."""
    process, head, state = Process(pid=None), None, None
    frames: List[Frame] = []
    for part in parts:
        told, named, stated = PROCESS.match(part), THREAD.match(part), STATE.match(part)
        call = CALL.match(part) or PLACED.match(part)
        if told:
            process = Process(pid=int(told["pid"]), command=told["command"], parent=process.pid)
        elif named:
            head = named
        elif stated:
            state = stated["state"]
        elif call:
            frames.append(frame(call["function"], call["file"], call["line"]))
        else:
            return process, None
    return process, _thread(head, state, tuple(frames[::-1])) if frames else None


def _thread(head: Optional[re.Match[str]], state: Optional[str], frames: Tuple[Frame, ...]) -> Thread:
    number = int(head["id"], 0) if head else None
    pthread = bool(head and head["id"][:2] in ("0x", "0X"))
    return Thread(
        ident=number if pthread else None,
        tid=None if pthread else number,
        name=head["name"] if head else None,
        python=tuple(frame for frame in frames if frame.module is None),
        native=tuple(frame for frame in frames if frame.module is not None),
        state=state,
    )


FORMAT = SectionFormat("folded stacks", re.compile(r"^[^;]{1,300};.* \d+$"), _read)

"""Our own record of /proc: one look at one process and its tasks.

{"forkhang": "proc/1", "pid": 1718, "sample": 0, "parent": 1680, "command": ["python", "train.py"],
 "executable": "/usr/bin/python3.8", "python": "3.8.18", "state": "S", "layout": ["0x7ffd..."],
     "forked": true, "machine": "x86_64",
 "tasks": [{"tid": 1718, "inner_tid": 1718, "name": "python", "state": "S", "wchan": "futex_wait_queue",
            "syscall": "202 0x7f.. 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd.. 0x7f..", "ticks": 12, "switches": 34,
            "stack": ["0x7ffd00000000", "0x7ffd00021000"]}],
 "files": {"3": "pipe:[8123]:r"}}
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any, Dict, Optional, Tuple

from forkhang_ipy.formats import kernel
from forkhang_ipy.formats._base import Format, load, number, our_record
from forkhang_ipy.model import Dump, Process, Sample, Thread, Wait


def _parse(text: str) -> Dump:
    record = load(text)
    return Dump(processes=(_process(record),), samples=record.get("sample", 0) + 1, sources=("/proc",))


def _process(record: Dict[str, Any]) -> Process:
    tasks = record.get("tasks", [])
    return Process(
        pid=record.get("pid"),
        parent=record.get("parent"),
        command=shlex.join(record.get("command") or []) or None,
        executable=record.get("executable"),
        python=record.get("python"),
        layout=tuple(int(address, 0) for address in record.get("layout") or ()),
        tasks=tuple(task["tid"] for task in tasks),
        threads=tuple(_thread(task, record) for task in tasks),
        files=tuple((int(descriptor), name) for descriptor, name in (record.get("files") or {}).items()),
        state=record.get("state"),
        marked_forked=record.get("forked"),
    )


def _thread(task: Dict[str, Any], record: Dict[str, Any]) -> Thread:
    wait = _wait(task, record)
    return Thread(
        tid=task["tid"],
        inner_tid=task.get("inner_tid"),
        name=task.get("name"),
        state=task.get("state"),
        wait=wait,
        ghost=False,
        stack=_range(task.get("stack")),
        samples=(
            Sample(
                index=record.get("sample", 0),
                state=task.get("state"),
                wait=wait,
                cpu_ticks=task.get("ticks"),
                switches=task.get("switches"),
            ),
        ),
    )


def _wait(task: Dict[str, Any], record: Dict[str, Any]) -> Optional[Wait]:
    wait = kernel.wait_of(task.get("syscall"), record.get("machine", ""), task.get("state"), task.get("wchan"))
    if wait is None or wait.file is None:
        return wait
    return replace(wait, file=(record.get("files") or {}).get(wait.file))


def _range(pair: Optional[Tuple[str, str]]) -> Optional[Tuple[int, int]]:
    low, high = (number(word) for word in pair) if pair else (None, None)
    return (low, high) if low is not None and high is not None else None


FORMAT = Format("proc record", our_record("proc/1"), _parse)

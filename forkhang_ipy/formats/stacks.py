"""Our own record of stacks, whatever took them (libdw, pystack, or the process itself).

{"forkhang": "stacks/1", "pid": 1718, "sample": 1, "source": "libdw",
 "threads": [{"tid": 1718, "ident": null, "name": null, "gil": null, "python": [],
              "native": [{"function": "futex_wait", "module": "/usr/lib/libc.so.6", "address": "0x7f.."}]}]}
"""

from __future__ import annotations

from typing import Any, Dict, Tuple

from forkhang_ipy.formats._base import Format, load, number, our_record
from forkhang_ipy.model import Dump, Frame, Process, Sample, Thread


def _parse(text: str) -> Dump:
    record = load(text)
    threads = tuple(_thread(thread, record) for thread in record.get("threads", []))
    return Dump(
        processes=(Process(pid=record.get("pid"), threads=threads),),
        samples=record.get("sample", 0) + 1,
        sources=(record.get("source", "stacks"),),
    )


def _thread(thread: Dict[str, Any], record: Dict[str, Any]) -> Thread:
    native = _frames(thread.get("native"))
    return Thread(
        ident=number(thread.get("ident")),
        tid=thread.get("tid"),
        name=thread.get("name"),
        python=_frames(thread.get("python")),
        native=native,
        holds_gil=thread.get("gil"),
        samples=(Sample(index=record.get("sample", 0), native=native),) if native else (),
    )


def _frames(frames: Any) -> Tuple[Frame, ...]:  # noqa: ANN401 a piece of a JSON document
    return tuple(
        Frame(
            function=frame.get("function"),
            file=frame.get("file"),
            line=frame.get("line"),
            module=frame.get("module"),
            address=number(frame.get("address")),
        )
        for frame in frames or ()
    )


FORMAT = Format("stacks record", our_record("stacks/1"), _parse)

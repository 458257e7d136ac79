"""The `stacks/1` record: what a source of ours says of the threads of one process, frames innermost first."""

from __future__ import annotations

import json
from typing import List, Optional, Sequence, TypedDict

FORMAT = "stacks/1"


class PythonFrame(TypedDict):
    """One Python call."""

    function: str
    file: str
    line: Optional[int]


class NativeFrame(TypedDict):
    """One native call; the function is None where it has no symbol."""

    function: Optional[str]
    module: Optional[str]
    address: str


class ThreadRecord(TypedDict):
    """One thread: the columns that the source can see, the others empty."""

    tid: Optional[int]
    ident: Optional[str]
    name: Optional[str]
    gil: Optional[bool]
    python: List[PythonFrame]
    native: List[NativeFrame]


def record(pid: int, sample: int, source: str, threads: Sequence[ThreadRecord], *, note: Optional[str] = None) -> str:
    """The record as text; the note says what is missing from it."""
    document = {
        "forkhang": FORMAT,
        "pid": pid,
        "sample": sample,
        "source": source,
        "threads": list(threads),
        "note": note,
    }
    return json.dumps(document, separators=(",", ":"))

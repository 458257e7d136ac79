"""Our own record of lock objects: what the locks belong to that the threads of a process wait for.

{"forkhang": "objects/1", "pid": 1718, "scanned": 11000320, "seconds": 0.036, "gave_up": null,
 "hits": [{"word": "0x55b30e78b590", "at": "0x7fdeaaad9a90", "mapping": null, "stack": false,
           "before": "04000000...", "after": "c0a676aade7f0000...", "parent_after": "c0a676aade7f0000...",
           "object": "0x7fdeaaad9a80", "type": "_thread.RLock", "offset": 16, "symbol": null,
           "variable": "lock", "module": null, "owner": null}]}
"""

from __future__ import annotations

from typing import Any, Dict

from forkhang_ipy.formats._base import Format, load, number, our_record
from forkhang_ipy.model import Dump, Gap, LockObject, Process


def _parse(text: str) -> Dump:
    record = load(text)
    pid, gave_up = record.get("pid"), record.get("gave_up")
    gaps = (Gap(pid, "lock objects", f"the search of its memory was given up {gave_up}", _HINT),) if gave_up else ()
    found = tuple(_object(hit) for hit in record.get("hits", []))
    return Dump(processes=(Process(pid=pid, objects=found),), sources=("memory",), gaps=gaps)


def _object(hit: Dict[str, Any]) -> LockObject:
    original = hit.get("parent_after")
    return LockObject(
        word=int(hit["word"], 0),
        at=int(hit["at"], 0),
        type=hit.get("type"),
        address=number(hit.get("object")),
        symbol=hit.get("symbol"),
        offset=hit.get("offset"),
        mapping=hit.get("mapping"),
        on_stack=bool(hit.get("stack")),
        before=bytes.fromhex(hit.get("before") or ""),
        after=bytes.fromhex(hit.get("after") or ""),
        parent_after=bytes.fromhex(original) if original else None,
        variable=hit.get("variable"),
        module=hit.get("module"),
        owner=number(hit.get("owner")),
    )


_HINT = "It is larger than is searched; the stacks still tell which lock it is."
FORMAT = Format("objects record", our_record("objects/1"), _parse)

"""Our own record of a futex word in shared memory: which processes have that memory mapped.

{"forkhang": "sharers/1", "word": "0x7f41c9a5d000", "pid": 1718, "file": "/dev/shm/sem.mp-8f3k (deleted)",
 "inode": 12, "offset": 0, "processes": [1680, 1718], "value": "0000000001000000", "unseen": 0}
"""

from __future__ import annotations

from forkhang_ipy.formats._base import Format, load, our_record
from forkhang_ipy.model import Dump, Sharers


def _parse(text: str) -> Dump:
    record = load(text)
    if "word" not in record:
        return Dump()
    told = Sharers(
        word=int(record["word"], 0),
        pid=record["pid"],
        file=record.get("file"),
        pids=tuple(record.get("processes", [])),
        value=bytes.fromhex(record.get("value") or ""),
        offset=record.get("offset"),
        unseen=record.get("unseen", 0),
    )
    return Dump(sharers=(told,))


FORMAT = Format("sharers record", our_record("sharers/1"), _parse)

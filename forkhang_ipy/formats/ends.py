"""Our own record of a pipe or socket that a thread waits for: who on the machine has it open.

{"forkhang": "ends/1", "resource": "pipe:[8123]", "unseen": 0, "waiters": [{"pid": 1718, "tid": 1718}],
 "ends": [{"pid": 1680, "mode": "w", "command": "python train.py"}, {"pid": 1718, "mode": "r", "command": "python"}]}
"""

from __future__ import annotations

from forkhang_ipy.formats._base import Format, load, our_record
from forkhang_ipy.model import Dump, Ends


def _parse(text: str) -> Dump:
    record = load(text)
    if "resource" not in record:
        return Dump()
    ends = record.get("ends", [])
    told = Ends(
        resource=record["resource"],
        ends=tuple((end["pid"], end["mode"]) for end in ends),
        unseen=record.get("unseen", 0),
        waiters=tuple((waiter["pid"], waiter["tid"]) for waiter in record.get("waiters", [])),
        commands=tuple((end["pid"], end["command"]) for end in ends if end.get("command")),
    )
    return Dump(ends=(told,))


FORMAT = Format("ends record", our_record("ends/1"), _parse)

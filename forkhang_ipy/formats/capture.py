"""Our own record of a capture as a whole: what was asked for, and what could not be seen.

{"forkhang": "capture/1", "target": 1718, "taken": "2026-01-31T10:00:00Z", "samples": 2, "ended": [1719],
 "gaps": [{"process": 1718, "what": "python stack", "why": "py-spy: ...", "try": "..."}]}
"""

from __future__ import annotations

import json
from typing import Sequence

from forkhang_ipy.formats._base import Format, load, our_record
from forkhang_ipy.model import Dump, Gap, Process


def write(gaps: Sequence[Gap]) -> str:
    """The record of what could not be seen."""
    told = [{"process": gap.process, "what": gap.what, "why": gap.why, "try": gap.hint} for gap in gaps]
    return json.dumps({"forkhang": "capture/1", "gaps": told}, ensure_ascii=False)


def _parse(text: str) -> Dump:
    record = load(text)
    return Dump(
        processes=tuple(Process(pid=pid, ended=True) for pid in record.get("ended", [])),
        target=record.get("target"),
        samples=record.get("samples", 1),
        gaps=tuple(
            Gap(process=gap.get("process"), what=gap["what"], why=gap["why"], hint=gap["try"])
            for gap in record.get("gaps", [])
        ),
    )


FORMAT = Format("capture record", our_record("capture/1"), _parse)

"""Our own record of memory: the bytes at futex words that somebody waits for.

{"forkhang": "memory/1", "pid": 1680,
 "words": [{"address": "0x7f36161cfc30", "hex": "0200...", "before": "3100...",
            "mapping": "[heap]", "shared": false}]}
"""

from __future__ import annotations

from typing import Any, Dict

from forkhang_ipy.formats._base import Format, load, our_record
from forkhang_ipy.model import Dump, Memory, Process


def _parse(text: str) -> Dump:
    record = load(text)
    words = tuple(_memory(word) for word in record.get("words", []))
    return Dump(processes=(Process(pid=record.get("pid"), memory=words),), sources=("memory",))


def _memory(word: Dict[str, Any]) -> Memory:
    return Memory(
        address=int(word["address"], 0),
        content=bytes.fromhex(word["hex"]),
        mapping=word.get("mapping"),
        shared=word.get("shared"),
        before=bytes.fromhex(word.get("before") or ""),
    )


FORMAT = Format("memory record", our_record("memory/1"), _parse)

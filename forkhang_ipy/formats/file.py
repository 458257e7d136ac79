"""Our own record of a file that was opened: the records behind it come from there, up to the next such record.

{"forkhang": "file/1", "name": "node12/rank3.txt"}

It is written where several files are read, so that a bundle of them knows which rank each came from.
"""

from __future__ import annotations

import json

from forkhang_ipy.formats._base import load, our_record
from forkhang_ipy.formats.ranks import NOWHERE, Origin, of_file

is_file = our_record("file/1")
"""The test for this record."""


def write(name: str) -> str:
    """The record of a file with this name."""
    return json.dumps({"forkhang": "file/1", "name": name}, ensure_ascii=False)


def tells(name: str) -> bool:
    """Whether a file's name says where its records come from."""
    return of_file(name) != NOWHERE


def origin(record: str) -> Origin:
    """Where the records behind this one come from."""
    name = load(record).get("name")
    return of_file(name) if isinstance(name, str) else Origin()

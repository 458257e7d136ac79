"""Text in, `Dump` out. No file is opened.

A format is one module with a `FORMAT`, and one line here.
"""

from __future__ import annotations

from typing import Iterator, List, Tuple

from forkhang_ipy.formats import (
    bundle,
    capture,
    ends,
    gdb,
    memory,
    objects,
    proc,
    py_spy_json,
    py_spy_text,
    sharers,
    stacks,
)
from forkhang_ipy.formats._base import Format
from forkhang_ipy.formats.join import join
from forkhang_ipy.model import Dump

FORMATS: Tuple[Format, ...] = (
    capture.FORMAT,
    proc.FORMAT,
    stacks.FORMAT,
    memory.FORMAT,
    objects.FORMAT,
    ends.FORMAT,
    sharers.FORMAT,
    py_spy_json.FORMAT,
    py_spy_text.FORMAT,
    gdb.FORMAT,
)


def parse(*texts: str) -> Dump:
    """What these texts say of one hang. A text may be a bundle, a record of ours, or what a debugger printed.

    Raises ValueError for a bundle that is torn or of an unknown schema. Text in no known format is in `Dump.unread`.
    """
    return join([_parse(record) for text in texts for record in _records(text)])


def _records(text: str) -> Iterator[str]:
    if bundle.is_bundle(text):
        yield from bundle.unpack(text)
    else:
        yield text


def _parse(text: str) -> Dump:
    dumps = [form.parse(text) for form in FORMATS if form.recognises(text)]
    if not dumps:
        return Dump(unread=tuple(line for line in text.splitlines() if line.strip()))
    unread: List[str] = [line for line in dumps[0].unread if all(line in dump.unread for dump in dumps)]
    return join(dumps, unread=tuple(unread))

"""Text in, `Dump` out. No file is opened.

A format is one module with a `FORMAT`, and one line here. Our own records are whole texts; what people and their tools
write is cut into sections, each in one of the other formats.
"""

from __future__ import annotations

from typing import Iterator, List, Tuple, Union

from forkhang_ipy.formats import (
    bundle,
    capture,
    ends,
    eu_stack,
    faulthandler,
    file,
    folded,
    gdb,
    kernel_text,
    lldb,
    macos_sample,
    memory,
    objects,
    proc,
    ps,
    py_spy_errors,
    py_spy_json,
    py_spy_text,
    pystack,
    ranks,
    sampling_dump,
    sections,
    sharers,
    stacks,
    strace,
    tracebacks,
)
from forkhang_ipy.formats._base import Format, SectionFormat
from forkhang_ipy.formats.join import join
from forkhang_ipy.model import Dump

RECORDS: Tuple[Format, ...] = (
    capture.FORMAT,
    proc.FORMAT,
    stacks.FORMAT,
    memory.FORMAT,
    objects.FORMAT,
    ends.FORMAT,
    sharers.FORMAT,
)
# The first that reads a section has it: the stricter ones come first.
SECTIONS: Tuple[SectionFormat, ...] = (
    py_spy_json.FORMAT,
    py_spy_errors.FORMAT,
    pystack.FORMAT,
    sampling_dump.FORMAT,
    faulthandler.FORMAT,
    eu_stack.FORMAT,
    gdb.FORMAT,
    lldb.FORMAT,
    macos_sample.FORMAT,
    kernel_text.STACK,
    kernel_text.CALL,
    kernel_text.STATE,
    ps.FORMAT,
    strace.FORMAT,
    tracebacks.FORMAT,
    folded.FORMAT,
    py_spy_text.FORMAT,
)
__all__ = ["FORMATS", "join", "parse", "parts"]
FORMATS: Tuple[Union[Format, SectionFormat], ...] = (*RECORDS, *SECTIONS)


def parse(*texts: str) -> Dump:
    """What these texts say of one hang. A text may be a bundle, a record of ours, or what tools and people wrote.

    Raises ValueError for a bundle that is torn or of an unknown schema. Lines in no known format are in `Dump.unread`.
    """
    return join(parts(*texts))


def parts(*texts: str) -> List[Dump]:
    """The same, a partial dump for each record or section; `join` makes one of them and of others'."""
    found: List[Dump] = []
    origin, behind = ranks.NOWHERE, 0
    for record in [record for text in texts for record in _records(text)]:
        if file.is_file(record):
            found[behind:] = ranks.with_pid(found[behind:], origin.pid)
            origin, behind = file.origin(record), len(found)
        else:
            found.extend(ranks.stamped(dump, origin) for dump in _parse(record))
    found[behind:] = ranks.with_pid(found[behind:], origin.pid)
    return found


def _records(text: str) -> Iterator[str]:
    if bundle.is_bundle(text):
        yield from bundle.unpack(text)
    else:
        yield text


def _parse(text: str) -> Iterator[Dump]:
    form = next((form for form in RECORDS if form.recognises(text)), None)
    if form:
        yield form.parse(text)
    else:
        yield from sections.read(text, SECTIONS)

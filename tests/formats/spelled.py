"""A dump spelled out, one noun a line, each with the fields that say something: for golden files to be read by eye."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from typing import Any, Iterator, Tuple

from forkhang_ipy.model import Dump, Frame, Thread

TELLING = ("timeout", "private", "holds_gil", "active", "live_tasks", "value", "rank")


def spelled(dump: Dump) -> str:
    """All that the dump says."""
    return "\n".join(_dump(dump)) + "\n"


def _dump(dump: Dump) -> Iterator[str]:
    yield f"sources {', '.join(dump.sources)}"
    for process in dump.processes:
        yield f"process {_said(process, but=('threads',))}"
        for thread in process.threads:
            yield from _thread(thread)
    yield from (f"gap {_said(gap)}" for gap in dump.gaps)
    yield from (f"unread {line!r}" for line in dump.unread)


def _thread(thread: Thread) -> Iterator[str]:
    yield f"  thread {_said(thread, but=('python', 'native', 'wait'))}"
    if thread.wait:
        yield f"    wait {_said(thread.wait)}"
    for column, frames in (("python", thread.python), ("native", thread.native)):
        yield from (f"    {column} {_frame(frame)}" for frame in frames)


def _frame(frame: Frame) -> str:
    return _said(frame)


def _said(noun: Any, *, but: Tuple[str, ...] = ()) -> str:  # noqa: ANN401 any noun
    said = ((each.name, getattr(noun, each.name)) for each in fields(noun) if each.name not in but)
    return " ".join(f"{name}={_value(name, value)}" for name, value in said if value not in (None, (), b"", *_no(name)))


def _no(name: str) -> Tuple[bool, ...]:
    """A no that says nothing is left out."""
    return () if name in TELLING else (False,)


def _value(name: str, value: object) -> str:
    if isinstance(value, Enum):
        return repr(value.value)
    return hex(value) if name in ("ident", "address") and isinstance(value, int) else repr(value)

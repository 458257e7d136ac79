"""What the real tools print of a program that truly hangs is read to the last line, each by one format.

`real/` was taken by `take_real.py` on two versions of CPython. lldb, macOS's sample, the sampling dump of 3.15 and
py-bt cannot be taken where this was written: their samples, in `samples/`, are written by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List

import pytest

from forkhang_ipy import api, formats
from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.formats.cleaning import plain
from forkhang_ipy.model import Verdict
from tests.formats.spelled import spelled
from tests.golden import golden

REAL = Path(__file__).parent / "real"
NAMES = sorted(path.stem for path in REAL.glob("*.txt"))
FORMATS: Dict[str, str] = {
    "eu_stack": "eu-stack",
    "eu_stack_modules": "eu-stack",
    "faulthandler": "faulthandler",
    "gdb": "gdb",
    "gdb_full": "gdb",
    "gdb_threads": "gdb",
    "proc_stack": "/proc/PID/syscall",
    "proc_status": "/proc/PID/status",
    "ps": "ps",
    "ps_threads": "ps",
    "py_spy": "py-spy text",
    "py_spy_json": "py-spy JSON",
    "py_spy_locals": "py-spy text",
    "py_spy_native": "py-spy text",
    "py_spy_record": "folded stacks",
    "py_spy_subprocesses": "py-spy text",
    "pystack": "pystack",
    "pystack_core": "pystack",
    "pystack_locals": "pystack",
    "pystack_native": "pystack",
    "strace": "strace",
    "traceback": "traceback",
}
SHOW_NO_FORK = {"proc_stack", "proc_status", "ps", "ps_threads", "strace"}
"""They hold no stack; without one nothing is called a fork deadlock."""


def text(name: str) -> str:
    return (REAL / f"{name}.txt").read_text("utf-8")


def readers(lines: List[str]) -> List[str]:
    """The formats that take a section somewhere in these lines, if they alone may."""
    return [form.name for form in formats.SECTIONS if any(takes(form, lines[at:]) for at in range(len(lines)))]


def takes(form: SectionFormat, lines: List[str]) -> bool:
    if not form.begins.match(lines[0]):
        return False
    section = form.read(Lines(lines))
    return section is not None and any(process.threads or process.pid for process in section.processes)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_tool_printed_keeps_its_meaning(name: str) -> None:
    dump = formats.parse(text(name))
    actual = spelled(dump)
    assert actual == golden(REAL / f"{name}.golden", actual)
    assert dump.unread == ()


@pytest.mark.parametrize("name", NAMES)
def test_one_format_alone_reads_it(name: str) -> None:
    assert readers(list(plain(text(name)))) == [FORMATS[name.split("-", 1)[0]]]


@pytest.mark.parametrize("name", [name for name in NAMES if name.split("-", 1)[0] not in SHOW_NO_FORK])
def test_a_stack_of_the_hang_is_never_called_well(name: str) -> None:
    assert api.read(REAL / f"{name}.txt").verdict is not Verdict.NOT_HUNG

"""Each format's sample keeps its meaning, whole: what every line of it says, and which lines say nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from forkhang_ipy import formats
from tests.formats.spelled import spelled
from tests.golden import golden

SAMPLES = Path(__file__).parent / "samples"
NAMES = sorted(path.stem for path in SAMPLES.glob("*.txt"))
CASES = os.environ.get("FORKHANG_CASES")
MOST_UNREAD = 4


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_bytes().decode()


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_keeps_its_meaning(name: str) -> None:
    actual = spelled(formats.parse(sample(name)))
    assert actual == golden(SAMPLES / f"{name}.golden", actual)


def test_a_sample_is_read_to_the_last_line_but_for_what_is_no_dump() -> None:
    left = {name: formats.parse(sample(name)).unread for name in NAMES}
    assert {name: len(lines) for name, lines in left.items() if lines} == {
        "gdb_session": 1,  # gdb's guess that a thread waits for the GIL
        "log_of_a_scheduler": 1,
        "log_of_the_system": 1,  # the kernel killed a process: no stack, but it says something
        "prose": 3,
        "py_spy_pretty": 1,
        "py_spy_subprocesses": 1,  # a log's line between two frames
        "several_processes": 2,
        "traceback_interleaved": 12,
    }


@pytest.mark.skipif(CASES is None, reason="the reported hangs lie outside this repository")
def test_every_reported_dump_says_something() -> None:
    texts = {
        path.stem: json.loads(path.read_text("utf-8"))["dump"] for path in sorted(Path(CASES or "").glob("*.json"))
    }
    dumps = {name: formats.parse(text) for name, text in texts.items()}
    silent = {name for name, dump in dumps.items() if not dump.processes and not dump.unread}
    assert silent == set()
    assert {name: len(dump.unread) for name, dump in dumps.items() if len(dump.unread) > MOST_UNREAD} == {}

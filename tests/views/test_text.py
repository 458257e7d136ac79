"""The text view."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from forkhang_ipy.model import Diagnosis, Frame, Gap
from forkhang_ipy.views.text import text
from tests.golden import golden
from tests.views.samples import SAMPLES, gh_112275, idle_pool, inconclusive, renamed

HERE = Path(__file__).parent

ESCAPE = "\x1b"


@pytest.mark.parametrize("name", SAMPLES)
def test_it_reads_as_it_did_when_somebody_last_read_it(name: str) -> None:
    actual = text(SAMPLES[name](), width=100)
    assert actual == golden(HERE / f"{name}.txt", actual)


def test_a_narrow_terminal_gets_one_column_below_the_other() -> None:
    actual = text(gh_112275(), width=60)
    assert actual == golden(HERE / "gh_112275_narrow.txt", actual)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", [40, 60, 79, 80, 100, 200])
def test_no_line_is_wider_than_it_may_be(name: str, width: int) -> None:
    assert [line for line in text(SAMPLES[name](), width=width).split("\n") if len(line) > width] == []


@pytest.mark.parametrize("name", SAMPLES)
def test_plain_text_has_no_escape_codes(name: str) -> None:
    assert ESCAPE not in text(SAMPLES[name]())


@pytest.mark.parametrize("name", SAMPLES)
def test_colour_adds_escape_codes_and_nothing_else(name: str) -> None:
    coloured = text(SAMPLES[name](), colour=True)
    assert ESCAPE in coloured
    bare = "\n".join(line.rstrip() for line in Text.from_ansi(coloured).plain.split("\n"))
    assert bare.strip() == text(SAMPLES[name]()).strip()


def test_the_environment_does_not_change_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = text(gh_112275(), colour=True)
    for name, value in {"NO_COLOR": "1", "COLUMNS": "40", "TERM": "dumb", "FORCE_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    assert text(gh_112275(), colour=True) == expected


def test_each_decisive_frame_has_a_sign_and_the_blocked_one_its_words() -> None:
    marked = [line.split("│")[-1].strip() for line in text(gh_112275(), width=120).split("\n") if "▶" in line]
    assert marked == [
        "▶② futex_wait libc.so.6",
        "▶① _PyThreadState_DeleteExcept libpython3.8 BLOCKED HERE",
        "▶① PyOS_AfterFork_Child libpython3.8",
        "os_fork libpython3.8",
    ]


def test_markup_of_a_tool_is_text_to_us() -> None:
    assert "[red]bold[/red]" in text(renamed(gh_112275(), "[red]bold[/red]"))


def test_an_escape_code_in_a_name_is_spelt_out() -> None:
    written = text(renamed(gh_112275(), "a\x1b[31mb\nc"))
    assert r"a\x1b[31mb\nc" in written.replace("\n   ", "")
    assert ESCAPE not in written


def test_what_was_not_seen_is_said_with_its_reason_and_a_way_out() -> None:
    assert (
        "Not seen: python stack of 4010: ptrace is not permitted here. Try: sudo forkhang 4000\n"
        "Not seen: native stacks: no source was at hand. Try: pip install pystack\n"
        "2 lines belong to no known format.\n"
    ) in text(inconclusive())


def test_locals_are_said_where_they_were_asked_for() -> None:
    diagnosis = idle_pool()
    process = diagnosis.dump.processes[0]
    frame = Frame("load", "/srv/app/serve.py", 8, locals=(("path", "'a.csv'"), ("n", "3")))
    thread = replace(process.threads[0], python=(frame,))
    dump = replace(diagnosis.dump, processes=(replace(process, threads=(thread,)),))
    assert "load app/serve.py:8: path = 'a.csv', n = 3\n" in text(replace(diagnosis, dump=dump))


@settings(deadline=None)  # how long it takes is the machine's business
@given(st.text(), st.text(), st.integers(40, 160))
def test_no_name_breaks_it(function: str, sentence: str, width: int) -> None:
    diagnosis: Diagnosis = replace(renamed(gh_112275(), function), summary=sentence)
    gap = Gap(None, function, sentence, function)
    written = text(replace(diagnosis, dump=replace(diagnosis.dump, gaps=(gap,))), width=width)
    assert all(letter.isprintable() or letter == "\n" for letter in written)
    assert "BLOCKED HERE" in written

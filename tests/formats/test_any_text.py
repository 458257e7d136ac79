"""What holds of any text: nothing raises, no frame comes from nowhere, no line is lost and none is counted twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Iterator, List, Set

from hypothesis import given
from hypothesis import strategies as st

from forkhang_ipy import formats
from forkhang_ipy.formats._base import Lines
from forkhang_ipy.formats.cleaning import plain
from forkhang_ipy.model import Dump, Frame

SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.txt"))
TEXTS = [path.read_bytes().decode() for path in SAMPLES]
KNOWN = sorted({line for text in TEXTS for line in text.splitlines()})
CUT = st.sampled_from(KNOWN).flatmap(lambda line: st.integers(0, len(line)).map(lambda cut: line[:cut]))
LINE = st.one_of(st.sampled_from(KNOWN), CUT, st.text(max_size=60))
MIXED = st.lists(LINE, max_size=40).map("\n".join)
TORN = st.sampled_from(TEXTS).flatmap(lambda text: st.integers(0, len(text)).map(lambda cut: text[:cut]))
SHUFFLED = st.lists(st.one_of(TORN, MIXED), max_size=4).map("\n".join)


def frames(dump: Dump) -> Iterator[Frame]:
    for process in dump.processes:
        for thread in process.threads:
            yield from thread.python + thread.native


def names(dump: Dump) -> Set[str]:
    return {frame.function for frame in frames(dump) if frame.function}


@given(SHUFFLED)
def test_no_frame_comes_from_nowhere(text: str) -> None:
    whole = " ".join(line.strip() for line in plain(text))
    assert {name for name in names(formats.parse(text)) if name not in whole and name not in text} == set()


@given(SHUFFLED)
def test_an_unread_line_stands_in_the_text_as_often_as_it_is_unread(text: str) -> None:
    there = Counter(line for line in plain(text) if line.strip())
    assert Counter(formats.parse(text).unread) - there == Counter()


@given(SHUFFLED)
def test_each_line_is_taken_once(text: str) -> None:
    for form in formats.SECTIONS:
        lines = Lines(list(plain(text)))
        if form.begins.match(lines.next):
            section = form.read(lines)
            assert (section is None) == (lines.at == 0)
            assert lines.unread == sorted(set(lines.unread))
            assert all(0 <= place < lines.at for place in lines.unread)


@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3))
def test_several_texts_say_what_each_says(texts: List[str]) -> None:
    alone = [formats.parse(text) for text in texts]
    together = formats.parse(*texts)
    assert names(together) <= {name for dump in alone for name in names(dump)}
    assert together.unread == tuple(line for dump in alone for line in dump.unread)
    pids = {process.pid for dump in alone for process in dump.processes}
    assert {process.pid for process in together.processes} <= pids


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_two_dumps_in_one_text_are_both_read(one: str, other: str) -> None:
    together = formats.parse(f"{one}\n# another\n{other}")
    assert Counter(together.unread) - Counter(["# another"]) == Counter(
        formats.parse(one).unread + formats.parse(other).unread
    )


@given(st.sampled_from(TEXTS))
def test_a_text_twice_is_that_text_where_every_process_has_a_number(text: str) -> None:
    once = formats.parse(text)
    if all(process.pid is not None for process in once.processes):
        assert formats.parse(text, text).processes == once.processes

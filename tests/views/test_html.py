"""The static HTML."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import List, Optional, Tuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forkhang_ipy.model import Remedy
from forkhang_ipy.views.html import html
from forkhang_ipy.views.style import STYLE
from tests.views.samples import SAMPLES, gh_112275, pthread_mutex, renamed

Attributes = List[Tuple[str, Optional[str]]]


class Outline(HTMLParser):
    """The tags in order, whether they nest, and the text between them."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.opened: List[str] = []
        self.tags: List[str] = []
        self.texts: List[str] = []
        self.nested = True
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:  # noqa: ARG002  # the parser's own signature
        self.opened.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.nested = self.nested and self.opened[-1:] == [tag]
        self.opened = self.opened[:-1]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_tag_is_closed_in_order(name: str) -> None:
    outline = Outline(html(SAMPLES[name]()))
    assert (outline.nested, outline.opened) == (True, [])


@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_runs_and_nothing_is_loaded(name: str) -> None:
    document = html(SAMPLES[name]())
    assert {"script", "link", "img", "iframe"} & set(Outline(document).tags) == set()
    assert re.findall(r"https?://|url\(|@import|\son\w+=", document) == []


def test_the_same_diagnosis_gives_the_same_bytes() -> None:
    assert html(gh_112275()) == html(gh_112275())


def test_module_level_code_is_escaped() -> None:
    document = html(gh_112275())
    assert "&lt;module&gt;" in document
    assert "<module>" not in document


def test_each_decisive_frame_is_in_a_marked_row_with_its_number() -> None:
    found = re.findall(r'<tr class="hit">(.*?)</tr>', html(gh_112275()))
    assert [" ".join(re.sub("<[^>]*>", " ", row).split()) for row in found] == [
        "2 futex_wait libc.so.6",
        "1 _PyThreadState_DeleteExcept libpython3.8 BLOCKED HERE",
        "1 PyOS_AfterFork_Child libpython3.8",
        "3 _launch multiprocessing/popen_fork.py:70 os_fork libpython3.8",
    ]


def test_the_holder_that_is_gone_ends_the_chain() -> None:
    chain = html(pthread_mutex()).split('class="chain"')[1].split("</ol>")[0]
    assert chain.endswith(
        '<li class="gone"><span class="arrow" aria-hidden="true">→</span><div class="box"><b>GONE</b>'
        "<small>holder of 2240, in hold at x.py:5: fork did not copy it</small></div></li>"
    )


def test_every_thread_with_a_stack_can_be_opened_once() -> None:
    document = html(gh_112275())
    summaries = re.findall(r"<summary>([^<]*)</summary><table>", document)
    assert summaries == [
        "→ 1680 MainThread · child 1718",
        "◌ pin_memory · at the fork: queue.get",
        "◌ tb_writer · at the fork: log.flush",
        "✓ 1690 MainThread · pipe read",
        "✓ 1691–1717 MainThread, 27 processes · shared semaphore",  # noqa: RUF001  # a range has a dash
    ]


def test_tables_have_a_caption_and_heads_that_say_what_they_head() -> None:
    document = html(gh_112275())
    assert document.count("<table>") == document.count("<caption>") > 0
    assert document.count("<th ") == document.count('<th scope="col">')


def test_every_rule_of_the_style_sheet_is_scoped() -> None:
    rules = re.sub(r"@media[^{]*\{", "", STYLE)
    selectors = [one for group in re.findall(r"([^{}]+)\{", rules) for one in group.split(",")]
    assert [one for one in selectors if ".forkhang" not in one] == []


def test_code_keeps_its_lines() -> None:
    remedy = Remedy("start-method", "t", "d", "if a < b:\n\tgo()\n")
    assert "<pre>if a &lt; b:\n    go()</pre>" in html(replace(gh_112275(), remedies=(remedy,)))


@settings(deadline=None)  # how long it takes is the machine's business
@given(st.text(), st.text())
def test_no_name_breaks_it(function: str, sentence: str) -> None:
    diagnosis = replace(
        renamed(gh_112275(), function), summary=sentence, remedies=(Remedy("id", function, sentence, sentence),)
    )
    expected = Outline(html(replace(renamed(gh_112275(), "f"), remedies=(Remedy("id", "f", "s", "s"),))))
    outline = Outline(html(diagnosis))
    assert (outline.nested, outline.opened) == (True, [])
    assert sorted(set(outline.tags)) == sorted(set(expected.tags))
    html(diagnosis).encode("utf-8")

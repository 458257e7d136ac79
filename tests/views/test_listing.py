"""The short list of threads."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, List

import pytest

from forkhang_ipy.model import Diagnosis, Dump, Process, Thread, Told, Verdict, Wait, WaitKind
from forkhang_ipy.views.focus import focus, others
from forkhang_ipy.views.listing import listing, ranges
from tests.views.samples import gh_112275, idle_pool, inconclusive, pthread_mutex


def shown(diagnosis: Diagnosis) -> Dict[str, List[str]]:
    return {
        group.heading: [f"{line.sign} {line.pids} {line.name}: {line.note}" for line in group.lines]
        for group in listing(diagnosis)
    }


def test_the_stuck_come_first_and_the_well_are_folded() -> None:
    assert list(shown(gh_112275()).items()) == [
        ("Stuck", ["⊘ 1718 MainThread: lock, for ever"]),
        ("Waiting for it", ["→ 1680 MainThread: child 1718"]),
        ("Ghosts in 1718", ["◌  pin_memory: at the fork: queue.get", "◌  tb_writer: at the fork: log.flush"]),
        (
            "Well",
            [
                "✓ 1690 MainThread: pipe read",
                "✓ 1691–1717 MainThread, 27 processes: shared semaphore",  # noqa: RUF001  # a range has a dash
            ],
        ),
    ]


def test_a_live_thread_of_the_parent_is_well_though_it_holds_the_lock() -> None:
    assert shown(pthread_mutex())["Well"] == ["✓ 2240 holder: sleep"]


def test_where_the_answer_is_open_nobody_is_called_well() -> None:
    assert shown(inconclusive()) == {
        "Waiting": ["→ 4000 MainThread: child 4010"],
        "Not seen": ["? 4010 python: no thread seen"],
    }


def test_a_dead_worker_is_listed_though_it_has_no_thread() -> None:
    dump = Dump(processes=(Process(7, command="python train.py", state="Z"), Process(8, ended=True)))
    assert shown(replace(idle_pool(), dump=dump)) == {
        "Dead": ["✗ 7 python: dead, not yet waited for", "✗ 8 : ended while we looked"]
    }


def test_of_threads_without_a_tid_only_the_one_found_is_stuck() -> None:
    wait = Wait(WaitKind.LOCK, Told.STACK)
    known, unknown = Thread(ident=1, name="a", wait=wait), Thread(ident=2, name="b", wait=wait)
    finding = replace(gh_112275().findings[0], process=5, thread=known)
    diagnosis = replace(
        gh_112275(),
        findings=(finding,),
        chain=(),
        stuck=((5, None),),
        dump=Dump(processes=(Process(5, threads=(known, unknown)),)),
    )
    assert shown(diagnosis) == {"Stuck": ["⊘ 5 a: lock"], "Well": ["✓ 5 b: lock"]}


def test_a_finding_of_something_else_is_not_called_stuck() -> None:
    finding = replace(gh_112275().findings[0], verdict=Verdict.NOT_FORK_DEADLOCK)
    diagnosis = replace(gh_112275(), verdict=Verdict.NOT_FORK_DEADLOCK, findings=(finding,), stuck=(), chain=())
    assert shown(diagnosis)["Found"] == ["◇ 1718 MainThread: lock, for ever"]


@pytest.mark.parametrize(
    ("pids", "expected"),
    [([], ""), ([3], "3"), ([3, 4], "3–4"), ([9, 3, 4, 5, None], "3–5, 9")],  # noqa: RUF001  # a range has a dash
)
def test_pids_in_a_row_are_a_range(pids: List[int], expected: str) -> None:
    assert ranges(pids) == expected


def test_without_a_finding_the_targets_main_thread_is_shown() -> None:
    assert [one.title for one in focus(inconclusive())] == ["4000 MainThread"]


def test_other_findings_come_to_one_sentence_a_kind() -> None:
    first = gh_112275().findings[0]
    other = replace(first, signature="stdio-lock", title="a stream's lock", process=1800)
    findings = (first, replace(first, process=1719), replace(first, process=1720), other)
    assert others(replace(gh_112275(), findings=findings)) == (
        "The same in 1719–1720.",  # noqa: RUF001  # a range has a dash
        "Also: 1800 waits for a stream's lock · proven",
    )

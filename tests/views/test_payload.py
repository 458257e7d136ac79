"""The JSON document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forkhang_ipy.views.payload import payload
from tests.golden import golden
from tests.views.samples import SAMPLES, gh_112275, inconclusive, pthread_mutex, renamed

HERE = Path(__file__).parent

if TYPE_CHECKING:
    from forkhang_ipy.model import Diagnosis


def written(diagnosis: Diagnosis) -> str:
    return json.dumps(payload(diagnosis), indent=1) + "\n"


@pytest.mark.parametrize("name", ["gh_112275", "pthread_mutex"])
def test_the_whole_document_is_as_it_was_when_somebody_last_read_it(name: str) -> None:
    actual = written(SAMPLES[name]())
    assert actual == golden(HERE / f"{name}.json", actual)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_same_diagnosis_gives_the_same_bytes(name: str) -> None:
    assert written(SAMPLES[name]()) == written(SAMPLES[name]())


def test_a_finding_says_what_the_contract_promises() -> None:
    (finding,) = json.loads(written(pthread_mutex()))["findings"]
    assert finding == {
        "signature": "pthread-mutex",
        "title": "an inherited pthread mutex",
        "verdict": "fork-deadlock",
        "confidence": "proven",
        "process": 2290,
        "who": "child",
        "thread": {"tid": 2290, "ident": "140", "name": "MainThread"},
        "frames": [
            {"stack": "native", "index": 1, "function": "___pthread_mutex_lock", "file": None, "line": None},
            {"stack": "native", "index": 2, "function": "store_lock", "file": None, "line": None},
        ],
        "fork_site": [
            {
                "stack": "python",
                "index": 3,
                "function": "_launch",
                "file": "multiprocessing/popen_fork.py",
                "line": 71,
            },
            {"stack": "python", "index": 4, "function": "main", "file": "/srv/app/serve.py", "line": 5},
        ],
        "lock": {
            "kind": "pthread-mutex",
            "address": "0x7f36161cfc30",
            "owner_tid": 2288,
            "owner_ident": "150",
            "owner_gone": True,
            "in_parent": "still held there",
            "owner": {"process": 2240, "thread": "holder", "function": "hold", "file": "/srv/app/x.py", "line": 5},
        },
        "evidence": [
            "The mutex at 0x7f36161cfc30 names TID 2288 as its owner.",
            "2288 is no thread of 2290: it is the thread holder of 2240, in hold at x.py:5.",
        ],
        "proof": [
            {
                "sentence": "The mutex at 0x7f36161cfc30 names TID 2288 as its owner.",
                "frames": [{"stack": "native", "index": 1}],
            },
            {
                "sentence": "2288 is no thread of 2290: it is the thread holder of 2240, in hold at x.py:5.",
                "frames": [],
            },
        ],
        "remedies": ["start-method"],
    }


def test_gaps_carry_what_to_try() -> None:
    assert json.loads(written(inconclusive()))["gaps"] == [
        {
            "process": 4010,
            "what": "python stack",
            "why": "ptrace is not permitted here.",
            "try": "sudo forkhang 4000",
        },
        {"process": None, "what": "native stacks", "why": "no source was at hand.", "try": "pip install pystack"},
    ]


def test_unknown_is_null() -> None:
    process = json.loads(written(inconclusive()))["processes"][0]
    assert (process["forked"], process["threads"][0]["ghost"], process["threads"][0]["wait"]["timeout"]) == (
        None,
        None,
        None,
    )


@settings(deadline=None)  # how long it takes is the machine's business
@given(st.text())
def test_any_name_comes_back_as_it_was(name: str) -> None:
    document = json.loads(written(renamed(gh_112275(), name)))
    assert document["findings"][0]["frames"][0]["function"] == name

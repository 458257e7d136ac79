"""Every dump that was ever taken keeps its diagnosis, whole; every signature has a dump, and a near-miss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Dict, Set, Tuple

import pytest

from forkhang_ipy import api
from forkhang_ipy.knowledge.signatures import SIGNATURES
from forkhang_ipy.model import Verdict
from tests.golden import golden

DUMPS = Path(__file__).parent / "dumps"
NAMES = sorted(path.stem for path in DUMPS.glob("*.json"))
# A look-alike or another hang that shows almost the same stack, and must not get this signature.
NEAR_MISS: Dict[str, Tuple[str, ...]] = {
    "cpython-head-lock": ("hook", "threading-lock"),
    "import-lock": ("threading-rlock",),
    "stdio-lock": ("full-pipe",),
    "python-threading-lock": ("idle-pool", "idle-pool-stripped", "crossed-locks", "event-forever"),
    "openmp-gomp": ("lost-threads",),
    "inherited-lock": ("crossed-locks", "crossed-locks-in-child", "idle-pool"),
    "lost-threads": ("event-forever", "sleeping-worker"),
    "pipe-full": ("stdio-lock",),
    "lock-order-threads": ("threading-lock", "idle-pool"),
    "normal-idle-worker": ("threading-lock", "full-pipe"),
    "parent-waits-child": ("event-forever",),
}
NO_DUMP = {"slow-io": "nothing on the machine can be put in state D at will"}
LOOK_ALIKES = {
    "computing-worker",
    "crossed-locks",
    "crossed-locks-in-child",
    "event-forever",
    "full-pipe",
    "healthy-parent",
    "idle-pool",
    "idle-pool-stripped",
    "sleeping-worker",
    "spawn-queue",
}


def signatures(name: str, process: object = None) -> Set[str]:
    findings = api.diagnose(DUMPS / f"{name}.json").findings
    return {finding.signature for finding in findings if process in (None, finding.process)}


@pytest.mark.parametrize("name", NAMES)
def test_a_dump_keeps_its_diagnosis(name: str) -> None:
    actual = json.dumps(api.diagnose(DUMPS / f"{name}.json").to_json(), indent=1, ensure_ascii=False) + "\n"
    assert actual == golden(DUMPS / "diagnoses" / f"{name}.json", actual)


@pytest.mark.parametrize("name", NAMES)
def test_a_dump_is_called_a_fork_deadlock_if_and_only_if_it_is_one(name: str) -> None:
    verdict = api.diagnose(DUMPS / f"{name}.json").verdict
    assert (verdict is Verdict.FORK_DEADLOCK) == (name not in LOOK_ALIKES)


def test_every_signature_has_a_dump_that_shows_it() -> None:
    shown = set().union(*map(signatures, NAMES))
    assert {signature.id for signature in SIGNATURES} - shown - set(NO_DUMP) == set()


def test_every_signature_has_a_near_miss_that_does_not_get_it() -> None:
    assert {signature.id for signature in SIGNATURES} - set(NEAR_MISS) - set(NO_DUMP) == set()


@pytest.mark.parametrize(("signature", "name"), [(key, name) for key, names in NEAR_MISS.items() for name in names])
def test_a_near_miss_does_not_get_the_signature(signature: str, name: str) -> None:
    whole_tree_shows_it = signature == "pipe-full"
    child = next(
        (finding.process for finding in api.diagnose(DUMPS / f"{name}.json").findings if finding.who.value == "child"),
        None,
    )
    assert signature not in signatures(name, child if whole_tree_shows_it else None)


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_carries_its_evidence(name: str) -> None:
    for finding in api.diagnose(DUMPS / f"{name}.json").findings:
        assert finding.evidence
        for place in [*finding.frames, *(place for proof in finding.evidence for place in proof.frames)]:
            column = getattr(finding.thread, place.column.value)
            assert 0 <= place.index < len(column)

"""Every dump keeps its diagnosis, whole; each entry of SIGNATURES is shown by a dump, each family has a near-miss.

`dumps/*.json` were taken live by `dumps/take.py`; `dumps/*.txt` are written by hand, as the tools print them, and named
after the signature that they show; `dumps/near/*.txt` show almost the same, and must not get it.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Dict, List, Set, Tuple

import pytest

from forkhang_ipy import api, formats
from forkhang_ipy.analysis.diagnose import diagnose
from forkhang_ipy.knowledge.signatures import SIGNATURES
from forkhang_ipy.model import Confidence, Diagnosis, Finding, Verdict
from tests.golden import golden

DUMPS = Path(__file__).parent / "dumps"
TAKEN = sorted(DUMPS.glob("*.json"))
WRITTEN = sorted(DUMPS.glob("*.txt"))
NEAR = sorted((DUMPS / "near").glob("*.txt"))
FAMILIES = {signature.id: signature.verdict for signature in SIGNATURES}

TAKEN_AS: Dict[Verdict, Tuple[str, ...]] = {
    Verdict.FORK_DEADLOCK: (
        "at-fork-c",
        "before-hook",
        "buffered-writer",
        "faulthandler",
        "feeder",
        "gomp",
        "hashlib",
        "hashlib-stripped",
        "head-lock-3.8",
        "head-lock-3.11",
        "head-lock-3.11-stripped",
        "hook",
        "import-lock",
        "logging-handler",
        "logging-emit",
        "lost-threads",
        "preexec",
        "pthread-mutex",
        "pthread-spin",
        "stdio-lock",
        "threading-lock",
        "threading-rlock",
        "tree",
    ),
    Verdict.NOT_FORK_DEADLOCK: (
        "crossed-locks",
        "full-pipe",
        "killed-worker",
        "native-gil",
        "respawn",
        "semlock-holder-killed",
        "signal-in-logging",
        "spawn-queue",
        "stopped",
        "zombie",
    ),
    # Nothing tells who should wake these; in a forked process an inherited lock would look the same.
    Verdict.INCONCLUSIVE: (
        "child-with-threads",
        "crossed-locks-in-child",
        "event-forever",
        "event-in-child",
        "self-deadlock-in-child",
        "simple-queue-child",
    ),
    Verdict.NOT_HUNG: (
        "computing-worker",
        "healthy-parent",
        "idle-pool",
        "idle-pool-stripped",
        "native-pool-idle",
        "sleeping-worker",
        "slow-fork",
    ),
}
OTHER_VERDICTS = {"slow-fork-child": Verdict.NOT_HUNG}  # the trace itself shows that it moves
NO_DUMP: Dict[str, str] = {
    "slow-fork-child": "its trace is read call by call, and so tells more than the one line that the entry looks for",
}
# What looks like a look-alike and is a fork deadlock has a near-miss that is one, of another kind.
FORK_DEADLOCKS_NEAR = {
    "device-wait",
    "gc-reentrancy",
    "gil-native-deadlock",
    "head-lock-same-process",
    "native-async-stall",
    "native-threadpool-contention",
    "normal-idle-worker",
    "openblas-thread-race",
    "openmp-runtime-stall",
    "pipe-full",
    "signal-reentrancy",
}
# Torn, they lack the very thread that tells them apart, and what is left is a shape that hangs are reported in.
TELLING_THREAD_IS_LAST = {
    "accelerate-dispatch-2",
    "atexit-lock",
    "import-lock-2",
    "logging-lock-2",
    "python-threading-lock-2",
    "python-threading-lock-3",
    "rdkafka",
    "stdio-lock-3",
}
# A look-alike or another hang, taken live, that shows almost the same stack, and must not get this signature.
TAKEN_NEAR: Dict[str, Tuple[str, ...]] = {
    "cpython-head-lock": ("hook", "threading-lock"),
    "import-lock": ("threading-rlock",),
    "stdio-lock": ("full-pipe",),
    "python-threading-lock": ("idle-pool", "idle-pool-stripped", "crossed-locks", "event-forever"),
    "openmp-gomp": ("lost-threads", "native-pool-idle"),
    "inherited-lock": ("crossed-locks", "crossed-locks-in-child", "idle-pool", "self-deadlock-in-child"),
    "lost-threads": ("event-forever", "event-in-child", "simple-queue-child", "sleeping-worker"),
    "lock-order-threads": ("threading-lock", "idle-pool"),
    "normal-idle-worker": ("threading-lock", "full-pipe", "semlock-holder-killed"),
    "semlock-holder-dead": ("idle-pool", "killed-worker", "simple-queue-child"),
    "spawn-unpicklable": ("idle-pool", "killed-worker"),
    "parent-waits-child": ("event-forever",),
}
# Where a text is cut into pieces that may stand in any order: at commands, else at processes, else at threads.
TOO_FEW = 2
HEADINGS = (r"^(?=[$#] )", r"^(?=Process \d+: )", r"^(?=Thread \d+ \(Thread )")


def family(path: Path) -> str:
    """`import-lock-2.txt` belongs to `import-lock`."""
    return path.stem if path.stem in FAMILIES else re.sub(r"-\d+$", "", path.stem)


@lru_cache(maxsize=None)
def diagnosed(path: Path) -> Diagnosis:
    return api.diagnose(path)


def of_text(text: str) -> Diagnosis:
    return diagnose(formats.parse(text))


def claims(path: Path) -> List[Finding]:
    return [finding for finding in diagnosed(path).findings if finding.confidence is not Confidence.POSSIBLE]


def claimed(path: Path) -> Set[str]:
    return {finding.signature for finding in claims(path)}


def expected(path: Path) -> Verdict:
    if path.suffix == ".json":
        return next(verdict for verdict, names in TAKEN_AS.items() if path.stem in names)
    return OTHER_VERDICTS.get(path.stem) or FAMILIES[family(path)]


def pieces(path: Path) -> List[str]:
    """What stands before the first heading, and the text from each heading to the next; empty for a single piece."""
    cuts = (re.split(heading, path.read_text("utf-8"), flags=re.MULTILINE) for heading in HEADINGS)
    return next((cut for cut in cuts if len(cut) > TOO_FEW), [])


def each(paths: List[Path]) -> List[object]:
    """One parameter a dump."""
    return [pytest.param(path, id=path.name) for path in paths]


# --- the dumps -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", each(TAKEN + WRITTEN))
def test_a_dump_keeps_its_diagnosis(path: Path) -> None:
    name = path.name if path.suffix == ".json" else f"{path.name}.json"
    actual = json.dumps(api.diagnose(path).to_json(), indent=1, ensure_ascii=False) + "\n"
    assert actual == golden(DUMPS / "diagnoses" / name, actual)


@pytest.mark.parametrize("path", each(TAKEN + WRITTEN))
def test_a_dump_gets_its_verdict(path: Path) -> None:
    assert diagnosed(path).verdict is expected(path)


@pytest.mark.parametrize("path", each([path for path in WRITTEN if path.stem not in OTHER_VERDICTS]))
def test_a_dump_shows_the_signature_that_it_is_named_after(path: Path) -> None:
    assert family(path) in claimed(path)


def test_every_entry_has_a_dump_that_shows_it() -> None:
    shown = {(finding.signature, finding.evidence[0].sentence) for path in TAKEN + WRITTEN for finding in claims(path)}
    not_shown = {signature.id for signature in SIGNATURES if (signature.id, signature.shows) not in shown}
    assert not_shown == set(NO_DUMP)


def test_nothing_tells_where_a_dump_was_taken() -> None:
    home = re.compile(r"/(?:root|home/(?!user|ma-user)\w+|tmp/forkhang|github|work)/")
    assert [path.name for path in TAKEN + WRITTEN + NEAR if home.search(path.read_text("utf-8"))] == []


# --- the near-misses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NEAR, ids=lambda path: path.name)
def test_a_near_miss_does_not_get_the_signature_that_it_is_named_after(path: Path) -> None:
    assert family(path) in FAMILIES
    assert family(path) not in claimed(path)


@pytest.mark.parametrize("path", NEAR, ids=lambda path: path.name)
def test_a_near_miss_is_called_a_fork_deadlock_if_and_only_if_it_is_one_of_another_kind(path: Path) -> None:
    assert (diagnosed(path).verdict is Verdict.FORK_DEADLOCK) == (path.stem in FORK_DEADLOCKS_NEAR)


@pytest.mark.parametrize(("signature", "name"), [(key, name) for key, names in TAKEN_NEAR.items() for name in names])
def test_another_hang_taken_live_does_not_get_the_signature(signature: str, name: str) -> None:
    assert signature not in claimed(DUMPS / f"{name}.json")


def test_every_family_has_a_near_miss() -> None:
    assert set(FAMILIES) - {family(path) for path in NEAR} == set()


# --- what holds of all -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", TAKEN + WRITTEN + NEAR, ids=lambda path: path.name)
def test_every_finding_carries_its_evidence(path: Path) -> None:
    for finding in diagnosed(path).findings:
        assert finding.evidence
        for place in [*finding.frames, *(place for proof in finding.evidence for place in proof.frames)]:
            assert 0 <= place.index < len(getattr(finding.thread, place.column.value))


@pytest.mark.parametrize("path", WRITTEN + NEAR, ids=lambda path: path.name)
def test_a_torn_text_never_makes_a_fork_deadlock_of_something_else(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines(keepends=True)
    verdicts = {end: of_text("".join(lines[:end])).verdict for end in range(len(lines))}
    if diagnosed(path).verdict is not Verdict.FORK_DEADLOCK and path.stem not in TELLING_THREAD_IS_LAST:
        assert [end for end, verdict in verdicts.items() if verdict is Verdict.FORK_DEADLOCK] == []


@pytest.mark.parametrize("path", [path for path in WRITTEN + NEAR if pieces(path)], ids=lambda path: path.name)
def test_the_order_of_a_texts_pieces_does_not_change_the_verdict(path: Path) -> None:
    before, *rest = pieces(path)
    answers = [of_text("".join([before, *order])) for order in (rest, rest[::-1], rest[1:] + rest[:1])]
    assert len({(answer.verdict, answer.confidence) for answer in answers}) == 1

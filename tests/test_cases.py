"""Cases of real hangs that are kept outside this repository: FORKHANG_CASES names their folder, and their scorer's.

A case has a dump and the right verdict. No look-alike may be called a fork deadlock, and nothing more than it shows.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Set

import pytest

from forkhang_ipy import api
from forkhang_ipy.errors import DumpError
from forkhang_ipy.model import Verdict

FOLDER = os.environ.get("FORKHANG_CASES")
OPEN = Verdict.INCONCLUSIVE.value
RIGHT_AT_LEAST, NAMED_AT_LEAST = 55, 50

pytestmark = pytest.mark.skipif(FOLDER is None, reason="FORKHANG_CASES is not set: they are kept elsewhere")


@dataclass(frozen=True)
class Case:
    """What was expected of one dump, and what was said."""

    name: str
    verdict: str
    family: str
    said: str
    families: Set[str]


def scored(path: Path, here: Path) -> Case:
    case = json.loads(path.read_text(encoding="utf-8"))
    dump = here / f"{path.stem}.txt"
    dump.write_text(case["dump"], encoding="utf-8")
    expected = case["expected"]
    try:
        report = api.diagnose(dump)
    except DumpError:
        return Case(path.stem, expected["verdict"], expected["family"], OPEN, set())
    said = Verdict.NOT_FORK_DEADLOCK if report.verdict is Verdict.NOT_HUNG else report.verdict
    families = {finding.signature for finding in report.findings}
    return Case(path.stem, expected["verdict"], expected["family"], said.value, families)


def test_no_case_is_a_false_alarm_or_too_sure_and_most_are_right(tmp_path: Path) -> None:
    cases = [scored(path, tmp_path) for path in sorted(Path(FOLDER or "").glob("*.json"))]
    assert [case.name for case in cases if case.said not in (case.verdict, OPEN)] == []
    assert len([case for case in cases if case.said == case.verdict]) >= RIGHT_AT_LEAST
    assert len([case for case in cases if case.family in case.families]) >= NAMED_AT_LEAST

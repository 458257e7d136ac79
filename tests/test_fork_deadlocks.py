"""Live: processes that truly hang in a fork deadlock are called that, with proof, on every CPython found here."""

from __future__ import annotations

from typing import Optional, Tuple

import pytest

from forkhang_ipy import api
from forkhang_ipy.api import Report
from forkhang_ipy.model import Column, Confidence, Finding, Owner, Process, Thread, Verdict, WaitKind, Who
from tests import live

ALL = [pytest.param(version, python, id=version) for version, python in live.INTERPRETERS]
AFFECTED = [pytest.param(*found, id=found[0]) for found in live.INTERPRETERS if live.affected(found[0])]
FIRST_FIXED = {"3.8": "3.8.20", "3.9": "3.9.20", "3.10": "3.10.15", "3.11": "3.11.10"}


def functions(finding: Finding) -> Tuple[Optional[str], ...]:
    """The decisive frames by name, innermost first."""
    columns = {Column.NATIVE: finding.thread.native, Column.PYTHON: finding.thread.python}
    return tuple(columns[place.column][place.index].function for place in finding.frames)


def main_thread(report: Report, pid: int) -> Thread:
    process = report.dump.process(pid)
    assert process is not None
    return next(thread for thread in process.threads if thread.tid == pid)


def process(report: Report, pid: Optional[int]) -> Process:
    found = report.dump.process(pid)
    assert found is not None
    return found


def about(report: Report, pid: Optional[int]) -> Finding:
    """The finding about this process that the verdict rests on."""
    return next(finding for finding in report.findings if finding.process == pid)


def test_the_affected_interpreters_of_this_machine_are_tried() -> None:
    if not AFFECTED:
        live.unavailable("no CPython with gh-112275 on this machine")
    assert {version.rsplit(".", 1)[0] for version, _ in live.INTERPRETERS if live.affected(version)} <= set(FIRST_FIXED)


@pytest.mark.parametrize(("version", "python"), AFFECTED)
def test_the_hang_of_gh_112275_is_proven_from_the_parent_and_from_the_child(version: str, python: str) -> None:
    with live.hanging("head_lock.py", python, live.attach_library()) as hang:
        reports = [api.diagnose(hang.parent), api.diagnose(hang.child or 0)]
    branch = version.rsplit(".", 1)[0]
    for report in reports:
        finding = about(report, hang.child)
        assert (report.verdict, report.confidence) == (Verdict.FORK_DEADLOCK, Confidence.PROVEN)
        assert (finding.signature, finding.who) == ("cpython-head-lock", Who.CHILD)
        assert functions(finding) == ("_PyThreadState_DeleteExcept", "PyOS_AfterFork_Child")
        assert process(report, hang.child).python == version
        parents_wait = main_thread(report, hang.parent).wait
        assert parents_wait is not None
        assert (parents_wait.kind, parents_wait.target) == (WaitKind.CHILD, hang.child)
        library, users = (finding.thread.python[place.index] for place in finding.fork_site)
        assert (library.file or "").endswith("multiprocessing/popen_fork.py")
        assert (users.file or "").endswith("head_lock.py")
        upgrade = next(remedy for remedy in report.remedies if remedy.id == "upgrade-python")
        assert upgrade.detail == f"{version} has gh-112275; first fixed: {FIRST_FIXED[branch]}"


@pytest.mark.parametrize(("version", "python"), ALL)
def test_the_owner_of_a_pthread_mutex_is_named_down_to_the_line(version: str, python: str) -> None:
    with live.hanging("pthread_mutex.py", python) as hang:
        reports = [api.diagnose(hang.parent), api.diagnose(hang.child or 0)]
    for report in reports:
        finding = about(report, hang.child)
        assert (report.verdict, report.confidence) == (Verdict.FORK_DEADLOCK, Confidence.PROVEN)
        assert finding.signature == "inherited-lock"
        assert finding.lock is not None
        assert finding.lock.owner_tid == hang.facts["holder_tid"]
        owner = finding.lock.owner
        assert owner == Owner(
            process=hang.parent,
            thread="holder",
            function="hold",
            file=owner.file if owner else None,
            line=int(str(hang.facts["line"])),
        )
        assert (owner.file or "").endswith("pthread_mutex.py")
    assert version


INHERITED = {
    "threading_lock.py": {"python-threading-lock"},
    "threading_rlock.py": {"python-threading-lock"},
    "register_at_fork_hook.py": {"python-threading-lock"},
    "plain_fork.py": {"python-threading-lock"},
    "import_lock.py": {"import-lock"},
    # A stripped interpreter has no name for the function that waits for the stream's lock.
    "stdio_lock.py": {"stdio-lock", "inherited-lock"},
    "lost_threads.py": {"lost-threads"},
}


@pytest.mark.parametrize("program", sorted(INHERITED))
@pytest.mark.parametrize(("version", "python"), ALL)
def test_what_the_child_inherited_is_a_fork_deadlock_seen_from_both_ends(
    program: str, version: str, python: str
) -> None:
    with live.hanging(program, python) as hang:
        from_parent, from_child = api.diagnose(hang.parent), api.diagnose(hang.child or 0)
    for report in (from_parent, from_child):
        assert report.verdict is Verdict.FORK_DEADLOCK
        assert about(report, hang.child).signature in INHERITED[program]
    assert about(from_parent, hang.child).signature == about(from_child, hang.child).signature
    assert version


@pytest.mark.parametrize(("version", "python"), ALL)
def test_openmps_lost_team_is_a_fork_deadlock(version: str, python: str) -> None:
    with live.hanging("gomp.py", python, live.parallel_library()) as hang:
        report = api.diagnose(hang.parent)
    assert (report.verdict, report.confidence) == (Verdict.FORK_DEADLOCK, Confidence.PROVEN)
    assert about(report, hang.child).signature == "openmp-gomp"
    assert version

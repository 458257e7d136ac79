"""Live: processes that truly hang in a fork deadlock are called that, with proof, on every CPython found here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Optional, Set, Tuple

import pytest

from forkhang_ipy import api
from forkhang_ipy.api import Report
from forkhang_ipy.capture.records import Options
from forkhang_ipy.model import Column, Confidence, Finding, Owner, Process, Thread, Verdict, WaitKind, Who
from tests import live

ALL = [pytest.param(python, id=version) for version, python in live.INTERPRETERS]
HAVE_THE_BUG = [found for found in live.INTERPRETERS if live.affected(found[0])]
AFFECTED = [pytest.param(*found, id=found[0]) for found in HAVE_THE_BUG]
QUICK = Options(interval=0.2)
HANGS = 4
LOCK = 'a lock of the threading module ("cache_lock")'
NOT_COPIED = "fork did not copy it, so nobody will ever release the lock"
FIRST_FIXED = {"3.8": "3.8.20", "3.9": "3.9.20", "3.10": "3.10.15", "3.11": "3.11.10"}


@dataclass(frozen=True)
class Inherited:
    """What is to be said of a program that hangs by a lock or a thread of its parent."""

    families: Set[str]
    lock: Optional[str]
    owner: bool = False


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


@live.once
def test_the_affected_interpreters_of_this_machine_are_tried() -> None:
    if not AFFECTED:
        live.unavailable("no CPython with gh-112275 on this machine")
    assert {version.rsplit(".", 1)[0] for version, _ in live.INTERPRETERS if live.affected(version)} <= set(FIRST_FIXED)


@pytest.mark.parametrize(("version", "python"), AFFECTED)
def test_the_hang_of_gh_112275_is_proven_from_the_parent_and_from_the_child(version: str, python: str) -> None:
    with live.hanging("head_lock.py", python, live.attach_library()) as hang:
        reports = [api.diagnose(hang.parent, options=QUICK), api.diagnose(hang.child or 0, options=QUICK)]
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


@pytest.mark.parametrize("kind", ["normal", "recursive", "errorcheck", "robust"])
@pytest.mark.parametrize("python", ALL)
def test_the_owner_of_a_pthread_mutex_is_named_down_to_the_line(kind: str, python: str) -> None:
    with live.hanging("pthread_mutex.py", python, kind) as hang:
        reports = [api.diagnose(hang.parent, options=QUICK), api.diagnose(hang.child or 0, options=QUICK)]
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


# Program and its argument: families that are right, whether an owner is recorded, and the lock by the field's name.
# Where an interpreter is stripped, the function that waits has no name, and the evidence alone must do.
INHERITED: Dict[str, Inherited] = {
    "threading_lock.py": Inherited({"python-threading-lock"}, "threading.Lock"),
    "threading_rlock.py": Inherited({"python-threading-lock"}, "threading.RLock", owner=True),
    "register_at_fork_hook.py": Inherited({"python-threading-lock"}, "threading.Lock"),
    "plain_fork.py": Inherited({"python-threading-lock"}, "threading.Lock"),
    "logging_handler.py handler": Inherited({"logging-lock"}, "threading.RLock", owner=True),
    "logging_handler.py emit": Inherited({"logging-lock"}, "threading.Lock"),
    "import_lock.py": Inherited({"import-lock"}, "threading.Lock"),
    "stdio_lock.py": Inherited({"stdio-lock"}, "io.BufferedWriter", owner=True),
    "buffered_writer.py": Inherited({"stdio-lock"}, "io.BufferedWriter", owner=True),
    "hashlib_object.py": Inherited({"python-threading-lock"}, "_hashlib.HASH"),
    "faulthandler_armed.py": Inherited({"lost-threads", "inherited-lock"}, None),
    "lost_threads.py": Inherited({"lost-threads"}, None),
    "pthread_spin.py": Inherited({"inherited-lock"}, None),
    "feeder.py": Inherited({"queue-feeder-lock"}, "threading.Lock"),
}


@pytest.mark.parametrize("program", sorted(INHERITED))
@pytest.mark.parametrize("python", ALL)
def test_what_the_child_inherited_is_a_fork_deadlock_seen_from_both_ends(program: str, python: str) -> None:
    expected = INHERITED[program]
    name, *arguments = program.split()
    with live.hanging(name, python, *arguments) as hang:
        reports = [api.diagnose(pid, options=QUICK) for pid in (hang.parent, hang.child or 0)]
    for report in reports:
        finding = about(report, hang.child)
        assert report.verdict is Verdict.FORK_DEADLOCK
        assert finding.signature in expected.families
        assert finding.who is Who.CHILD
        if expected.lock is not None:
            assert finding.lock is not None
            assert finding.lock.kind == expected.lock
        if expected.owner:
            assert_owner_is_named(finding, hang)
    assert {about(report, hang.child).signature for report in reports} == {about(reports[0], hang.child).signature}


def assert_owner_is_named(finding: Finding, hang: live.Hang) -> None:
    """The owner is the thread that the program says holds the lock, and no thread of the child."""
    assert finding.lock is not None
    owner = finding.lock.owner
    assert (finding.lock.owner_ident, finding.lock.owner_gone) == (hang.facts["holder_ident"], True)
    assert owner is not None
    assert (owner.process, owner.thread) == (hang.parent, hang.facts["holder"])


@pytest.mark.parametrize("python", ALL)
def test_who_imports_the_module_is_named(python: str) -> None:
    for _ in range(HANGS):
        with live.hanging("import_lock.py", python) as hang:
            finding = about(api.diagnose(hang.parent, options=QUICK), hang.child)
        # Now and then memory does not tell; then no owner is named.
        if finding.lock is not None and finding.lock.owner_ident is not None:
            break
    assert_owner_is_named(finding, hang)
    assert finding.lock is not None
    assert finding.lock.variable == "slow_module"


@pytest.mark.parametrize("python", ALL)
def test_a_mutex_that_blocks_a_c_handler_of_fork_names_its_owner(python: str) -> None:
    with live.hanging("at_fork_c_handler.py", python, live.at_fork_library()) as hang:
        report = api.diagnose(hang.parent, options=QUICK)
    finding = about(report, hang.child)
    assert (report.verdict, report.confidence, finding.signature) == (
        Verdict.FORK_DEADLOCK,
        Confidence.PROVEN,
        "inherited-lock",
    )
    assert finding.lock is not None
    assert finding.lock.owner_tid == hang.facts["holder_tid"]
    assert finding.lock.owner is not None
    assert (finding.lock.owner.process, finding.lock.owner.thread) == (hang.parent, "holder")


@pytest.mark.parametrize("python", [pytest.param(path, id=version) for version, path in HAVE_THE_BUG])
def test_a_subprocess_with_preexec_fn_hangs_in_the_child_that_has_not_execd(python: str) -> None:
    with live.hanging("preexec_fn.py", python, live.attach_library()) as hang:
        report = api.diagnose(hang.parent, options=QUICK)
    finding = about(report, hang.child)
    assert (report.verdict, report.confidence) == (Verdict.FORK_DEADLOCK, Confidence.PROVEN)
    assert (finding.signature, finding.who) == ("cpython-head-lock", Who.CHILD)
    assert "no-preexec" in finding.remedies


@pytest.mark.parametrize("python", ALL)
def test_a_hook_that_blocks_before_the_fork_hangs_the_parent_itself(python: str) -> None:
    with live.hanging("before_hook.py", python) as hang:
        report = api.diagnose(hang.parent, options=QUICK)
    finding = about(report, hang.parent)
    assert (report.verdict, finding.who) == (Verdict.FORK_DEADLOCK, Who.PARENT)
    assert finding.thread.tid == hang.facts["forker_tid"]
    assert finding.lock is not None
    assert hang.facts["holder"] in [suspect.thread for suspect in finding.lock.candidates]


@pytest.mark.parametrize("python", ALL)
def test_the_chain_leads_from_the_launcher_over_the_trainer_to_the_worker_and_the_thread_that_is_gone(
    python: str,
) -> None:
    with live.hanging("tree.py", python) as hang:
        report = api.diagnose(hang.parent, options=QUICK)
    launcher, trainer, worker = hang.parent, hang.child, hang.facts["grandchild"]
    chain = report.to_json()["chain"]
    assert isinstance(chain, list)
    assert [link["sentence"] for link in chain] == [
        f"{launcher} MainThread waits for its child {trainer} to end (tree.py:56)",
        f"{trainer} MainThread waits for its child {worker} to end (tree.py:44)",
        f"{worker} MainThread waits for {LOCK} (tree.py:31), held at the fork by a thread that it does not have",
        f'GONE probably thread "filler" of {trainer} (tree.py:26): {NOT_COPIED}',
    ]


@pytest.mark.parametrize("python", ALL)
def test_a_thread_that_ticks_beside_it_makes_no_stuck_worker_well(python: str) -> None:
    with live.hanging("child_with_threads.py", python, "ticking") as hang:
        verdicts = {api.diagnose(pid, options=QUICK).verdict for pid in (hang.parent, hang.child or 0)}
    assert verdicts <= {Verdict.FORK_DEADLOCK, Verdict.INCONCLUSIVE}


@pytest.mark.parametrize("python", ALL)
def test_openmps_lost_team_is_a_fork_deadlock(python: str) -> None:
    with live.hanging("gomp.py", python, live.parallel_library()) as hang:
        report = api.diagnose(hang.parent, options=QUICK)
    assert (report.verdict, report.confidence) == (Verdict.FORK_DEADLOCK, Confidence.PROVEN)
    assert about(report, hang.child).signature == "openmp-gomp"

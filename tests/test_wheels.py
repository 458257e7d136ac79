"""Live: libraries from PyPI whose threads do not survive fork, used in a parent and then in its child."""

from __future__ import annotations

from forkhang_ipy import api
from forkhang_ipy.model import Verdict
from tests import live

pytestmark = live.once


def verdict_and_families(program: str, *packages: str, arguments: tuple[str, ...] = ()) -> tuple[Verdict, set[str]]:
    with live.hanging(program, live.with_packages(*packages), *arguments) as hang:
        report = api.diagnose(hang.pid)
    return report.verdict, {finding.signature for finding in report.findings if finding.process == hang.child}


def test_polars_waits_for_its_lost_pool() -> None:
    assert verdict_and_families("polars_child.py", "polars") == (Verdict.FORK_DEADLOCK, {"polars-rayon"})


def test_scikit_learn_waits_for_its_lost_openmp_team() -> None:
    assert verdict_and_families("sklearn_child.py", "sklearn") == (Verdict.FORK_DEADLOCK, {"openmp-gomp"})


def test_grpc_hangs_in_its_own_handler_of_fork() -> None:
    verdict, families = verdict_and_families("grpc_child.py", "grpc")
    assert (verdict, "grpc" in families) == (Verdict.FORK_DEADLOCK, True)


def test_grpc_without_its_handler_waits_for_its_lost_threads() -> None:
    verdict, families = verdict_and_families("grpc_child.py", "grpc", arguments=("off",))
    assert (verdict, "grpc" in families) == (Verdict.FORK_DEADLOCK, True)

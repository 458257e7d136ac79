"""The tables are whole: nothing dangles, no name is used twice, every pattern compiles."""

from __future__ import annotations

import re

import pytest

from forkhang_ipy.knowledge.cpython import BUGS
from forkhang_ipy.knowledge.cpython.interpreter import HEADLOCK_CHILD
from forkhang_ipy.knowledge.remedies import REMEDIES
from forkhang_ipy.knowledge.signatures import SIGNATURES, Fact, Signature
from forkhang_ipy.model import Verdict

BRANCHES = {f"3.{minor}" for minor in range(8, 15)}


def test_no_name_is_used_twice() -> None:
    for names in ([one.id for one in REMEDIES], [one.id for one in BUGS]):
        assert len(names) == len(set(names))


def test_no_family_is_both_a_fork_deadlock_and_a_look_alike() -> None:
    forks = {one.id for one in SIGNATURES if one.verdict is Verdict.FORK_DEADLOCK}
    assert forks & {one.id for one in SIGNATURES if one.verdict is not Verdict.FORK_DEADLOCK} == set()


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.id)
def test_a_signature_says_what_it_shows_what_fools_it_and_what_cures_it(signature: Signature) -> None:
    assert signature.shows.endswith(".")
    assert signature.fooled_by.endswith(".")
    assert signature.remedies
    assert set(signature.remedies) <= set(REMEDIES)
    assert signature.bug is None or signature.bug in BUGS


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.id)
def test_every_pattern_of_a_signature_compiles(signature: Signature) -> None:
    stacks = (*signature.native, *signature.python, *signature.anywhere, *signature.beside, signature.never)
    calls = [call for stack in stacks for call in stack]
    patterns = [
        pattern for call in calls for pattern in (call.function, call.file, call.module, call.source) if pattern
    ]
    for pattern in (*patterns, *signature.says, signature.no_thread_named or ""):
        re.compile(pattern)


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.id)
def test_what_proves_a_signature_also_claims_it(signature: Signature) -> None:
    for proof in signature.proof:
        proof |= {Fact.NO_OTHER_SHOWN} if Fact.ALONE in proof else set()  # noqa: PLW2901 who is alone is seen alone
        assert not signature.needs or any(needed <= proof for needed in signature.needs)


def test_every_remedy_is_used() -> None:
    used = {remedy for signature in SIGNATURES for remedy in signature.remedies}
    assert [remedy.id for remedy in REMEDIES if remedy not in used] == []


def test_affected_ranges_are_in_order_and_in_their_branch() -> None:
    for bug in BUGS:
        for affected in bug.affected:
            assert affected.branch in BRANCHES
            assert affected.first.startswith(affected.branch + ".")
            if affected.fixed is not None:
                assert affected.fixed.startswith(affected.branch + ".")
                assert int(affected.first.split(".")[2]) < int(affected.fixed.split(".")[2])


def test_gh_112275_ends_with_the_releases_of_september_2024() -> None:
    assert {affected.branch: affected.fixed for affected in HEADLOCK_CHILD.affected} == {
        "3.8": "3.8.20",
        "3.9": "3.9.20",
        "3.10": "3.10.15",
        "3.11": "3.11.10",
    }
    assert HEADLOCK_CHILD.reference == "gh-112275"

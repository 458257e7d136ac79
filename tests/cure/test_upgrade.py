"""The remedy `upgrade-python` names the bug, this version and the first one without it."""

from __future__ import annotations

from typing import Optional

import pytest

from forkhang_ipy.cure.start_method import start_method
from forkhang_ipy.cure.upgrade import upgrade
from forkhang_ipy.knowledge.cpython.interpreter import HEADLOCK_CHILD, MODLOCK_CHILD
from forkhang_ipy.knowledge.remedies import START_METHOD, UPGRADE_PYTHON


@pytest.mark.parametrize(
    ("version", "fixed"),
    [
        ("3.8.0", "3.8.20"),
        ("3.8.19", "3.8.20"),
        ("3.9.18", "3.9.20"),
        ("3.10.14", "3.10.15"),
        ("3.11.2", "3.11.10"),
        ("3.11.9+", "3.11.10"),
        ("3.8.20", None),
        ("3.11.10", None),
        ("3.12.1", None),
        ("3.7.16", None),
    ],
)
def test_a_version_has_the_bug_or_not(version: str, fixed: Optional[str]) -> None:
    remedy = upgrade(UPGRADE_PYTHON, HEADLOCK_CHILD, version)
    expected = f"{version} has gh-112275; first fixed: {fixed}" if fixed else None
    assert (remedy.detail if remedy else None) == expected


def test_an_unknown_version_is_told_all_first_fixed_releases() -> None:
    remedy = upgrade(UPGRADE_PYTHON, HEADLOCK_CHILD, None)
    assert remedy is not None
    assert remedy.detail == "The first releases without gh-112275: 3.8.20, 3.9.20, 3.10.15, 3.11.10"


def test_a_bug_without_a_fix_is_no_reason_to_upgrade() -> None:
    assert upgrade(UPGRADE_PYTHON, MODLOCK_CHILD, "3.12.1") is None
    assert upgrade(UPGRADE_PYTHON, None, "3.12.1") is None


@pytest.mark.parametrize(("device_in_use", "method"), [(False, "forkserver"), (True, "spawn")])
def test_the_start_method_is_code_that_compiles_and_needs_nothing_of_ours(device_in_use: bool, method: str) -> None:
    remedy = start_method(START_METHOD, device_in_use=device_in_use)
    assert remedy.code is not None
    compile(remedy.code, "cell", "exec")
    assert f'set_start_method("{method}")' in remedy.code
    assert "forkhang" not in remedy.code

"""The remedy `upgrade-python` for one process: the bug, whether this version has it, the first release without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Optional, Tuple

from forkhang_ipy.knowledge.cpython import Affected, Bug
from forkhang_ipy.model import Remedy

Version = Tuple[int, ...]


def upgrade(remedy: Remedy, bug: Optional[Bug], version: Optional[str]) -> Optional[Remedy]:
    """The remedy with this process's releases in it; None where no upgrade within reach removes the bug."""
    if bug is None:
        return None
    fixed = [affected for affected in bug.affected if affected.fixed is not None]
    if not fixed:
        return None
    if version is None:
        releases = ", ".join(str(affected.fixed) for affected in fixed)
        return replace(remedy, detail=f"The first releases without {bug.reference}: {releases}")
    affected = has(bug, version)
    if affected is None or affected.fixed is None:
        return None
    return replace(
        remedy,
        title=f"Upgrade to Python {affected.fixed}",
        detail=f"{version} has {bug.reference}; first fixed: {affected.fixed}",
    )


def has(bug: Bug, version: str) -> Optional[Affected]:
    """The range of releases that this version falls in, or None if it does not have the bug."""
    number = _numbers(version)
    for affected in bug.affected:
        first, fixed = _numbers(affected.first), _numbers(affected.fixed or f"{affected.branch}.9999")
        if number[:2] == _numbers(affected.branch) and first <= number < fixed:
            return affected
    return None


def _numbers(version: str) -> Version:
    """`3.11.2+` as (3, 11, 2)."""
    parts = []
    for part in version.split(".")[:3]:
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        parts.append(int(digits or 0))
    return tuple(parts)

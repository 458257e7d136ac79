"""The remedy `upgrade-python` for one process: the bug, whether this version has it, the first release without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Optional

from forkhang_ipy.knowledge.cpython import Bug
from forkhang_ipy.model import Remedy


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
    affected = bug.range_with(version)
    if affected is None or affected.fixed is None:
        return None
    return replace(
        remedy,
        title=f"Upgrade to Python {affected.fixed}",
        detail=f"{version} has {bug.reference}; first fixed: {affected.fixed}",
    )

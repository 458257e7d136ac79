"""The vocabulary of CPython's bugs: what shows one, which releases have it, and what to do until it is mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple


@dataclass(frozen=True)
class Affected:
    """A branch's releases from `first` on, up to but without `fixed`."""

    branch: str
    first: str
    fixed: Optional[str]


@dataclass(frozen=True)
class Bug:
    """One bug of CPython."""

    id: str
    reference: str
    """The issue's short name, or what else tells where it is known from."""
    title: str
    affected: Tuple[Affected, ...]
    native: Tuple[Tuple[str, ...], ...]
    """Native functions that show it, innermost first; others may stand between."""
    python: Tuple[Tuple[str, str], ...]
    """Python frames that show it, any of them: file and function. Where it has both, both must be there."""
    workaround: str
    unverified: Tuple[str, ...] = ()
    """Branches for which nobody has checked."""

    def range_with(self, version: str) -> Optional[Affected]:
        """The range of releases that this version (`3.8.18`) falls in, or None if it does not have the bug."""
        number = _numbers(version)
        for affected in self.affected:
            first, end = _numbers(affected.first), _numbers(affected.fixed or f"{affected.branch}.9999")
            if number[:2] == _numbers(affected.branch) and first <= number < end:
                return affected
        return None


def _numbers(version: str) -> Tuple[int, ...]:
    """`3.11.2+` as (3, 11, 2)."""
    parts = []
    for part in version.split(".")[:3]:
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        parts.append(int(digits or 0))
    return tuple(parts)


EVERY_BRANCH: Tuple[Affected, ...] = (
    Affected("3.8", "3.8.0", None),
    Affected("3.9", "3.9.0", None),
    Affected("3.10", "3.10.0", None),
    Affected("3.11", "3.11.0", None),
    Affected("3.12", "3.12.0", None),
    Affected("3.13", "3.13.0", None),
    Affected("3.14", "3.14.0", None),
)
"""Nobody has mended it anywhere yet."""

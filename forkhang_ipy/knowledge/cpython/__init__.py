"""CPython's own bugs that hang a program at or after fork, and the release that ends each.

Data only. A branch that is missing from `affected` is not affected, unless it stands in `unverified`. `fixed=None` means
that no fix is known in that branch. A vendor's build may carry a fix of its own: a version number alone proves nothing,
the stack does. Collected in autumn 2026 from CPython's sources, release notes and live runs.
"""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.cpython import interpreter, stdlib
from forkhang_ipy.knowledge.cpython._base import Affected, Bug

__all__ = ["BUGS", "Affected", "Bug"]

BUGS: Tuple[Bug, ...] = (*interpreter.BUGS, *stdlib.BUGS)

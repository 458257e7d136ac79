"""All signatures, the most particular first: for each thread the first that holds is the one that is claimed."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.signatures import accelerators, cpython, lookalikes, native, stdlib
from forkhang_ipy.knowledge.signatures._base import Fact, Signature

__all__ = ["SIGNATURES", "Fact", "Signature"]

SIGNATURES: Tuple[Signature, ...] = (
    *accelerators.SIGNATURES,
    *cpython.SIGNATURES,
    *native.LIBRARIES,
    *stdlib.SIGNATURES,
    *lookalikes.SIGNATURES,
    *native.BY_EVIDENCE,
    *stdlib.OPEN,
)

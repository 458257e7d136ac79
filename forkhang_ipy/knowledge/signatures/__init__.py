"""All signatures, the most particular first: for each thread the first that holds is the one that is claimed."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.signatures import cpython, lookalikes, native
from forkhang_ipy.knowledge.signatures._base import Call, Fact, Signature

__all__ = ["SIGNATURES", "Call", "Fact", "Signature"]

SIGNATURES: Tuple[Signature, ...] = (
    *cpython.SIGNATURES,
    *native.LIBRARIES,
    *native.BY_EVIDENCE,
    *lookalikes.SIGNATURES,
)

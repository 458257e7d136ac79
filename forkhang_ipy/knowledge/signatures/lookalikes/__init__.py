"""What looks like a fork deadlock and is none, the most particular first."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.signatures._base import Signature
from forkhang_ipy.knowledge.signatures.lookalikes import endings, interpreter, native, waits

SIGNATURES: Tuple[Signature, ...] = (
    *endings.SIGNATURES,
    *interpreter.SIGNATURES,
    *native.SIGNATURES,
    *waits.SIGNATURES,
)

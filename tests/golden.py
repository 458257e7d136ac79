"""Golden files: what was said when somebody last read it. FORKHANG_REGENERATE=1 writes them anew."""

from __future__ import annotations

import os
from pathlib import Path


def golden(path: Path, actual: str) -> str:
    """The text of the golden file; with the switch, `actual` becomes it."""
    if os.environ.get("FORKHANG_REGENERATE") == "1":
        path.write_text(actual, encoding="utf-8")
    return path.read_text(encoding="utf-8")

"""The remedy `start-method`: the lines that make workers start clean."""

from __future__ import annotations

from dataclasses import replace

from forkhang_ipy.model import Remedy

CODE = """\
# Workers start clean instead of copying this process's locks.
import multiprocessing

if __name__ == "__main__":
    multiprocessing.set_start_method("{method}")
"""


def start_method(remedy: Remedy, *, device_in_use: bool) -> Remedy:
    """The remedy with its code: `spawn` where a device's context is open, which a fork server must not copy."""
    method = "spawn" if device_in_use else "forkserver"
    return replace(remedy, code=CODE.format(method=method))

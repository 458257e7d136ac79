"""`forkhang demo`: start a real hang in a child of our own, hand its pid over, and end it afterwards."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Iterator, List

from forkhang_ipy.errors import DemoFailed

PROGRAM = Path(__file__).with_name("train.py")
LIMIT = 150.0
"""Seconds in which the program has its hang, or has fallen back to the sure one and said so."""


@dataclass(frozen=True)
class Hang:
    """A hang that is there now."""

    pid: int
    child: int
    what: str
    """What was made, and why that."""


@contextmanager
def hanging() -> Iterator[Hang]:
    """A real hang for as long as the block runs; its processes are ended afterwards, whatever happened.

    Raises DemoFailed where none could be made.
    """
    with TemporaryDirectory(prefix="forkhang-demo-") as folder:
        # Outside the installed packages: a user's script, whose lines are the user's own.
        script = shutil.copy(PROGRAM, folder)
        program = subprocess.Popen(
            [sys.executable, "-u", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            yield _ready(program)
        finally:
            _end(program)


def _ready(program: subprocess.Popen[str]) -> Hang:
    assert program.stdout is not None  # noqa: S101 it was asked for
    with selectors.DefaultSelector() as selector:
        selector.register(program.stdout, selectors.EVENT_READ)
        line = program.stdout.readline() if selector.select(LIMIT) else ""
    try:
        told = json.loads(line)
    except ValueError:
        raise DemoFailed(
            f"The demonstration made no hang on {sys.version.split()[0]}: {line.strip() or 'it said nothing'}.",
            "Try another Python, or look at a hang of your own with `forkhang PID`.",
        ) from None
    return Hang(pid=program.pid, child=told["child"], what=told["what"])


def _end(program: subprocess.Popen[str]) -> None:
    """End the program and everything that it started, by pid, children first."""
    import psutil  # only a demonstration needs it here

    started: List[psutil.Process] = []
    if program.poll() is None:
        started = psutil.Process(program.pid).children(recursive=True)
    for process in started:
        if process.pid != os.getpid() and process.is_running():
            process.kill()
    program.kill()
    program.communicate()
    psutil.wait_procs(started, timeout=5)

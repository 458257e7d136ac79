"""Programs that truly hang. Each says "ready" with its children's pids, and all of them are ended with the test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Callable, Iterator, List, Tuple

import pytest

from forkhang_ipy.capture import tree

OLDEST_MINOR = 8
Start = Callable[..., Tuple[int, ...]]

LOCK_HELD_AT_FORK = """
import os, sys, threading, time
lock, held = threading.Lock(), threading.Event()
def hold():
    with lock:
        held.set()
        time.sleep(600)
threading.Thread(target=hold, daemon=True, name="holder").start()
held.wait()
children = []
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
    child = os.fork()
    if not child:
        lock.acquire()
    children.append(child)
time.sleep(0.1)
print("ready", *children, flush=True)
os.waitpid(children[0], 0)
"""


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a program's text with an interpreter; its pid and those that it prints after "ready"."""
    programs: List[subprocess.Popen[str]] = []

    def started(text: str, *arguments: str, python: str = sys.executable) -> Tuple[int, ...]:
        program = subprocess.Popen([python, "-c", text, *arguments], stdout=subprocess.PIPE, text=True)
        programs.append(program)
        assert program.stdout
        ready, *children = program.stdout.readline().split()
        assert ready == "ready"
        return (program.pid, *map(int, children))

    yield started
    for program in programs:
        for pid in (program.pid, *tree.family(program.pid).descendants):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        program.wait()
        if program.stdout:
            program.stdout.close()


@pytest.fixture
def lock_held_at_fork() -> str:
    """The program whose children wait for a lock that a thread of their parent held when it forked."""
    return LOCK_HELD_AT_FORK


def _pythons() -> List[str]:
    """Every CPython from 3.8 on that is at hand."""
    found = [*Path("~/.pyenv/versions").expanduser().glob("3.*/bin/python"), Path("/usr/bin/python3")]
    targets = (path for path in found if path.exists() and int(path.resolve().name.rpartition(".")[2]) >= OLDEST_MINOR)
    return sorted({sys.executable, *map(str, targets)})


@pytest.fixture(params=_pythons())
def python(request: pytest.FixtureRequest) -> str:
    """Each CPython of this machine."""
    return str(request.param)

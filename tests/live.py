"""How the tests start a program that truly hangs, and how they end it.

A program's name in; a `Hang` with pids and facts out, once the program has said that its hang is in place. Whatever
happens, nothing of it is left afterwards. Also: the interpreters of this machine, and the compiled libraries and
packages that some of the programs need. Linux alone: elsewhere each of these skips the test.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Dict, Iterator, List, Mapping, NoReturn, Optional, Tuple

import psutil
import pytest

from tests.hangs.ready import tasks

HANGS = Path(__file__).parent / "hangs"
VERSIONS = range(8, 15)
FIRST_FIXED = {(3, 8): 20, (3, 9): 20, (3, 10): 15, (3, 11): 10}  # gh-112275
LOOK_INTERVAL = 0.05
SETTLING = 2.0
DYING = 10.0


class NotReadyError(AssertionError):
    """The program ended, or let its time run out, before its hang was in place."""


@dataclass(frozen=True)
class Hang:
    """A hang in place."""

    pid: int
    parent: int
    child: Optional[int]
    facts: Mapping[str, object]
    """All that the program said in its ready line."""


@contextmanager
def hanging(program: str, python: str = sys.executable, *arguments: str, timeout: float = 60) -> Iterator[Hang]:
    """Run `tests/hangs/PROGRAM` and yield once it hangs; all of its processes are gone afterwards.

    Raises NotReadyError, with the program's output, if it does not hang within `timeout` seconds.
    """
    if not sys.platform.startswith("linux"):
        pytest.skip("the programs that hang need Linux's /proc")
    with tempfile.TemporaryFile("w+") as complaints:
        process = subprocess.Popen(
            [python, str(HANGS / program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env=environment(),
            start_new_session=True,  # by which `end` finds all of its processes, orphans too
        )
        try:
            facts = ready_line(process, complaints, timeout)
            settle(process.pid)
            yield Hang(process.pid, int(facts["parent"]), facts["child"], facts)
        finally:
            end(process)


def affected(version: str) -> bool:
    """Whether this CPython has gh-112275, by its version number."""
    major, minor, patch = (int(part) for part in version.split("."))
    return patch < FIRST_FIXED.get((major, minor), 0)


def interpreters() -> List[Tuple[str, str]]:
    """Version and path of each CPython 3.8 to 3.14 of this machine, oldest first, one a version.

    FORKHANG_TEST_INTERPRETERS=own keeps to the one that runs the tests.
    """
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [*sorted(root.glob("versions/3.*/bin/python")), Path("/usr/bin/python3"), Path(sys.executable)]
    if os.environ.get("FORKHANG_TEST_INTERPRETERS") == "own":
        candidates = [Path(sys.executable)]
    found: Dict[Tuple[int, ...], str] = {}
    for path in dict.fromkeys(candidate.resolve() for candidate in candidates):
        version = version_of(path)
        if version is not None and version[0] == 3 and version[1] in VERSIONS:
            found.setdefault(version, str(path))
    return [(".".join(map(str, version)), path) for version, path in sorted(found.items())]


@functools.lru_cache(maxsize=None)
def attach_library() -> str:
    """Path of the compiled attach.c, for head_lock.py and preexec_fn.py; skips the test where there is no compiler."""
    return compiled("attach.c", "-pthread", "-ldl")


@functools.lru_cache(maxsize=None)
def parallel_library() -> str:
    """Path of the compiled parallel.c, for gomp.py; skips the test where there is no compiler with OpenMP."""
    return compiled("parallel.c", "-fopenmp")


@functools.lru_cache(maxsize=None)
def at_fork_library() -> str:
    """Path of the compiled at_fork.c, for at_fork_c_handler.py; skips the test where there is no compiler."""
    return compiled("at_fork.c", "-pthread")


@functools.lru_cache(maxsize=None)
def pool_library() -> str:
    """Path of the compiled pool.c, for native_pool_idle.py; skips the test where there is no compiler."""
    return compiled("pool.c", "-pthread")


def with_packages(*names: str) -> str:
    """Path of the running interpreter, if it can import all of these; skips the test where it cannot."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing and sys.version_info < (3, 10):
        pytest.skip(f"the test extra brings {', '.join(missing)} from Python 3.10 on")
    if missing:
        unavailable(f"not installed: {', '.join(missing)}")
    return sys.executable


# --- starting --------------------------------------------------------------------------------------------------------


def environment() -> Dict[str, str]:
    """Ours without anything that changes how Python runs, and without leaving .pyc files in the tests' folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_CORE"))}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}


def ready_line(process: subprocess.Popen[bytes], complaints: IO[str], timeout: float) -> Dict[str, Any]:
    """Read what the program says once its hang is in place."""
    assert process.stdout is not None
    deadline = time.monotonic() + timeout
    while not select.select([process.stdout], [], [], LOOK_INTERVAL)[0]:
        if process.poll() is not None or time.monotonic() > deadline:
            break
    else:
        line = process.stdout.readline()
        if line:
            return dict(json.loads(line))
        process.wait(DYING)
    complaints.seek(0)
    what = f"said nothing in {timeout:g} s" if process.returncode is None else f"ended with {process.returncode}"
    raise NotReadyError(f"{process.args!r} {what}, before it hung. {complaints.read()}")


def settle(pid: int) -> None:
    """Give the main thread, which has just said that it is ready, the moment that it needs to reach its own wait."""
    deadline = time.monotonic() + SETTLING
    before = None
    while time.monotonic() < deadline:
        now = tasks(pid).get(pid)
        if now is None or (now == before and now[0] == "S"):
            return
        before = now
        time.sleep(LOOK_INTERVAL)


# --- ending ----------------------------------------------------------------------------------------------------------


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill every process of the program's session, descendants first, and wait until they are gone."""
    process.send_signal(signal.SIGSTOP)  # a pool would start new workers while we kill the old
    deadline = time.monotonic() + DYING
    others = session(process.pid)
    while others and time.monotonic() < deadline:
        for pid in others:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
        others = session(process.pid)
    process.kill()
    process.wait(DYING)
    if process.stdout is not None:
        process.stdout.close()
    assert not others, f"processes {others} of {process.args!r} survived SIGKILL"


def session(leader: int) -> List[int]:
    """The live processes of the session that this one leads, without itself."""
    members = []
    for pid in psutil.pids():
        with suppress(ProcessLookupError, psutil.NoSuchProcess):
            if pid != leader and os.getsid(pid) == leader and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                members.append(pid)
    return members


# --- finding and compiling -------------------------------------------------------------------------------------------


def version_of(python: Path) -> Optional[Tuple[int, int, int]]:
    """Ask an interpreter for its version; None where it does not answer."""
    ask = "import sys; print(*sys.version_info[:3])"
    try:
        answer = subprocess.run([python, "-I", "-S", "-c", ask], capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    major, minor, patch = (int(part) for part in answer.stdout.split())
    return major, minor, patch


def compiled(source: str, *flags: str) -> str:
    """Compile a C file of `tests/hangs` once a session; skips the test where that cannot be done."""
    compiler = shutil.which("cc")
    if compiler is None:
        unavailable(f"no C compiler for {source}")
    library = library_folder() / f"{Path(source).stem}.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(HANGS / source), *flags]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    if outcome.returncode != 0:
        unavailable(f"{source} could not be compiled: {outcome.stderr}")
    return str(library)


@functools.lru_cache(maxsize=None)
def library_folder() -> Path:
    """A folder for compiled libraries that goes with the test session."""
    folder = tempfile.mkdtemp(prefix="forkhang-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def unavailable(reason: str) -> NoReturn:
    """Skip the test; in CI, where everything is installed on purpose, fail it instead."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


INTERPRETERS = interpreters()
once = pytest.mark.skipif(
    os.environ.get("FORKHANG_TEST_INTERPRETERS") == "own", reason="long, and tried with the main Python already"
)
"""For tests that say the same whatever Python runs them."""

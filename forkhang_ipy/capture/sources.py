"""What every source of evidence shares: how it fails, how a program is run within a time limit, how it is given up.

SourceFailed        this source gave nothing for this process: a fact and a way out, to become a gap
GivenUp             whoever asked wants no answer any more (Ctrl-C)
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from typing import Mapping, Optional, Sequence

_GLANCE = 0.1


class SourceFailed(Exception):
    """A source gave nothing for one process."""

    def __init__(self, why: str, hint: str) -> None:
        """The fact, and a way out: each a sentence, or the end of one."""
        super().__init__(why)
        self.why = why
        self.hint = hint


class GivenUp(BaseException):
    """Nobody waits for the answer any more. As with KeyboardInterrupt, only clean-up may stand in its way."""


@dataclass(frozen=True)
class Limits:
    """How long a source may take, and whether its answer is still wanted."""

    timeout: float
    """Seconds, for each source and process."""
    given_up: threading.Event = field(default_factory=threading.Event)

    def pause(self, seconds: float) -> None:
        """Wait, or raise GivenUp as soon as that is known."""
        if self.given_up.wait(seconds):
            raise GivenUp


@dataclass(frozen=True)
class Output:
    """What a program said."""

    code: int
    stdout: str
    stderr: str


def run(
    command: Sequence[str], limits: Limits, *, seconds: Optional[float] = None, more: Optional[Mapping[str, str]] = None
) -> Output:
    """Run a program to its end, or end it by force: then SourceFailed (too slow, not to be started) or GivenUp."""
    seconds = limits.timeout if seconds is None else seconds
    try:
        # A session of its own: a Ctrl-C in our terminal is ours to handle, and what the program starts ends with it.
        program = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(more or {}),
            start_new_session=True,
        )
    except OSError as error:
        raise SourceFailed(f"{command[0]} could not be started: {error.strerror}", "Install it again.") from error
    with program:
        try:
            return _output(program, limits, time.monotonic() + seconds)
        except BaseException:
            os.killpg(program.pid, signal.SIGKILL)
            raise


def _output(program: subprocess.Popen[bytes], limits: Limits, deadline: float) -> Output:
    while time.monotonic() < deadline:
        output = _glance(program)
        if output:
            return output
        limits.pause(0)
    raise SourceFailed("it did not end within its time limit", "Give it longer with --timeout.")


def _glance(program: subprocess.Popen[bytes]) -> Optional[Output]:
    """All that it said, once it has ended."""
    try:
        stdout, stderr = program.communicate(timeout=_GLANCE)
    except subprocess.TimeoutExpired:
        return None
    return Output(program.returncode, stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace"))


def _environment(more: Mapping[str, str]) -> Mapping[str, str]:
    """Ours, without what would colour the output or let a debugger fetch symbols from the network."""
    unwanted = ("CLICOLOR_FORCE", "FORCE_COLOR", "DEBUGINFOD_URLS")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**kept, "NO_COLOR": "1", **more}

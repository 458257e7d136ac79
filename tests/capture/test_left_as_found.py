from __future__ import annotations

import os
import signal
import time
from typing import Callable, List, Tuple

import pytest

from forkhang_ipy.capture import proc_files
from forkhang_ipy.capture.left_as_found import left_as_found

Start = Callable[..., Tuple[int, ...]]

SLEEPING = "import time; print('ready', flush=True); time.sleep(600)"


def states(pid: int) -> List[str]:
    time.sleep(0.05)
    return list(proc_files.states(proc_files.PROC / str(pid)).values())


def test_what_is_stopped_meanwhile_goes_on(start: Start) -> None:
    pid = start(SLEEPING)[0]
    with left_as_found([pid]):
        os.kill(pid, signal.SIGSTOP)
        assert states(pid) == ["T"]
    assert states(pid) == ["S"]


def test_it_goes_on_after_an_error_too(start: Start) -> None:
    pid = start(SLEEPING)[0]

    def interrupted() -> None:
        with left_as_found([pid]):
            os.kill(pid, signal.SIGSTOP)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert states(pid) == ["S"]


def test_what_was_stopped_before_stays_stopped(start: Start) -> None:
    pid = start(SLEEPING)[0]
    os.kill(pid, signal.SIGSTOP)
    assert states(pid) == ["T"]
    with left_as_found([pid]):
        pass
    assert states(pid) == ["T"]


def test_what_ends_meanwhile_is_no_error(start: Start) -> None:
    pid = start(SLEEPING)[0]
    with left_as_found([pid, 2**22 - 1]):
        os.kill(pid, signal.SIGKILL)

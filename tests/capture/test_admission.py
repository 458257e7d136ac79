from __future__ import annotations

import os
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest

from forkhang_ipy.capture.admission import admit
from forkhang_ipy.capture.records import records
from forkhang_ipy.errors import NoSuchProcess, ProcessIsKernelThread, ProcessIsOurselves, ProcessIsZombie

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("pid", [-1, 0, 2**22 - 1, 2**40])
def test_a_pid_that_nobody_has_is_refused(pid: int) -> None:
    with pytest.raises(NoSuchProcess):
        records(pid)


def test_ourselves_are_refused() -> None:
    with pytest.raises(ProcessIsOurselves, match="another terminal"):
        records(os.getpid())


def test_a_zombie_is_refused_with_the_parent_to_ask_for() -> None:
    program = subprocess.Popen(["/bin/true"])
    try:
        os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(ProcessIsZombie, match=f"Ask for the parent: {os.getpid()}"):
            records(program.pid)
    finally:
        program.wait()


def test_a_thread_is_refused_with_the_process_to_ask_for() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert thread.native_id is not None
        with pytest.raises(NoSuchProcess, match=f"is a thread of process {os.getpid()}"):
            records(thread.native_id)
    finally:
        done.set()
        thread.join()


def test_a_kernel_thread_is_refused(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text("7 (kworker/0:0) I 2 0 0 0 -1 69238880 " + "0 " * 43)
    with pytest.raises(ProcessIsKernelThread, match=r"7 \(kworker/0:0\)"):
        admit(7, tmp_path)

"""Bad targets get a clear sentence and a way out, exit status 1; nothing that was looked at is changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, List, Tuple

import pytest

from tests import live

NOBODY = 65534


def forkhang(*words: object) -> Tuple[int, str, str]:
    """Exit status, stdout and stderr of the command."""
    done = subprocess.run(
        [sys.executable, "-m", "forkhang_ipy", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@contextmanager
def child(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def refused(words: Tuple[object, ...], fact: str) -> None:
    """The command could not look, and said so in two sentences on stderr alone."""
    status, out, err = forkhang(*words)
    assert (status, out) == (1, "")
    assert err.startswith("forkhang: ")
    assert fact in err.splitlines()[0]
    assert len(err.splitlines()) >= 2, "a way out is given"
    assert "Traceback" not in err


def test_no_such_process() -> None:
    with child("true") as process:
        process.wait()
    refused((process.pid,), f"No process has the pid {process.pid}")


def test_a_zombie() -> None:
    with child("true") as process:
        while Path(f"/proc/{process.pid}/stat").read_text().split(") ")[1][0] != "Z":
            time.sleep(0.01)
        refused((process.pid,), f"Process {process.pid} (true) has ended")


def test_a_kernel_thread() -> None:
    kernel = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and is_kernel_thread(path)]
    if not kernel:
        pytest.skip("no kernel thread can be seen here (a container)")
    refused((kernel[0],), "belongs to the kernel itself")


def is_kernel_thread(path: Path) -> bool:
    try:
        return bool(int((path / "stat").read_text().rsplit(") ", 1)[1].split()[6]) & 0x00200000)
    except OSError:
        return False


def test_a_process_that_is_no_python_still_shows_its_wait_and_native_stack() -> None:
    with child("sleep", "1000") as process:
        time.sleep(0.2)
        status, out, err = forkhang(process.pid, "--json")
    answer = json.loads(out)
    shown = next(one for one in answer["processes"] if one["pid"] == process.pid)
    assert (status, err, shown["python"]) == (0, "", None)
    assert shown["threads"][0]["wait"]["kind"] == "sleep"
    assert any(frame["function"] == "clock_nanosleep" for frame in shown["threads"][0]["native"])
    assert answer["verdict"] == "not-hung"


def test_a_process_of_another_user_without_rights() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    program = (
        "import os, sys; import forkhang_ipy.cli, forkhang_ipy.api, forkhang_ipy.views.text\n"
        f"os.setgid({NOBODY}); os.setuid({NOBODY})\n"
        "sys.exit(forkhang_ipy.cli.main(sys.argv[1:]))"
    )
    with child("sleep", "1000") as process:
        done = subprocess.run(
            [sys.executable, "-c", program, str(process.pid)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stdout) == (1, "")
    fact, way_out = done.stderr.splitlines()
    assert fact == (
        f"forkhang: Process {process.pid} cannot be looked into: it belongs to user 0 and we are user {NOBODY}."
    )
    assert way_out == f"Run it as root: sudo $(command -v forkhang) {process.pid}"


def test_the_kernels_own_pid() -> None:
    program = "import os, sys; from forkhang_ipy.cli import main; sys.exit(main([str(os.getpid())]))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    fact, way_out = done.stderr.splitlines()
    assert fact.endswith("is this very process: nobody can attach to himself.")
    assert way_out == "Ask from another terminal or notebook."


def test_a_file_that_is_no_dump(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary,\nnothing hangs today.\n")
    refused((path,), f"No stack was found in {path}")


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("\n \n")
    refused((path,), f"{path} is empty")


def test_a_file_that_is_not_there_a_folder_and_a_torn_bundle(tmp_path: Path) -> None:
    refused((tmp_path / "none.txt",), "There is no file")
    refused((tmp_path,), "cannot be read")
    torn = tmp_path / "torn.forkhang"
    torn.write_text('{"schema": "forkhang-bundle/1", "records": ["{')
    refused((torn,), "torn bundle")


def test_a_save_that_cannot_be_written_loses_nothing_of_the_answer(tmp_path: Path) -> None:
    with child("sleep", "1000") as process:
        refused((process.pid, "--save", tmp_path / "no" / "such" / "folder"), "cannot be written")


@pytest.mark.parametrize(
    "words",
    [[], [""], ["--samples", "0", "1"], ["--interval", "never", "1"], ["1", "--no-such-option"], ["capture", "1"]],
)
def test_wrong_usage_is_status_two(words: List[str]) -> None:
    status, out, err = forkhang(*words)
    assert (status, out) == (2, "")
    assert err.startswith("usage: ")


def test_a_target_is_left_as_it_was_found() -> None:
    with live.hanging("threading_lock.py") as hang:
        before = [state(pid) for pid in (hang.parent, hang.child)]
        forkhang(hang.pid)
        after = [state(pid) for pid in (hang.parent, hang.child)]
    assert after == before == [("S", "0"), ("S", "0")]


def state(pid: object) -> Tuple[str, str]:
    """The kernel's letter, and the pid of a tracer."""
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line
    )
    return status["State"][0], status["TracerPid"]


def test_a_saved_hang_gives_the_same_answer_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "hang.forkhang"
    with live.hanging("threading_lock.py") as hang:
        status, first, err = forkhang(hang.pid, "--json", "--save", path)
    assert (status, err) == (0, "")
    assert forkhang(path, "--json") == (0, first, "")


def test_records_can_be_taken_now_and_opened_later(tmp_path: Path) -> None:
    path = tmp_path / "hang.forkhang"
    with live.hanging("threading_lock.py") as hang:
        assert forkhang("capture", hang.pid, "-o", path)[0] == 0
    status, out, err = forkhang(path)
    assert (status, err) == (0, "")
    assert out.startswith("⊘ FORK DEADLOCK · proven\n")

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Callable, Tuple

from forkhang_ipy.capture import maps, proc_files, procfs, python_version

STAT = "7 (a (b) c) S 1 7 7 0 -1 4194304 99 0 0 0 30 12 0 0 20 0 1 0 555 1 1 1 {code} 1 {stack}" + " 0" * 16 + " {rest}"
SEEN = STAT.format(code=0x400000, stack=0x7FFE0000, rest="11 12 13 14 15 16 17 0")
UNSEEN = STAT.format(code=1, stack=0, rest="0 0 0 0 0 0 0 0")
STATUS = "Name:\ta\nTgid:\t7\nNSpid:\t7\t3\nUid:\t1000\t1000\t1000\t1000\nTracerPid:\t0\n"
SWITCHES = "voluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t5\n"
MAPS = """\
00400000-00500000 r-xp 00000000 08:01 12                                 /usr/bin/program with space
00600000-00700000 rw-p 00000000 00:00 0                                  [heap]
7f0000000000-7f0000010000 rw-s 00000000 00:01 99                         /dev/sem.x
7f0000010000-7f0000020000 rw-p 00000000 00:00 0
"""


def folder(root: Path, **files: str) -> Path:
    made = root / "7"
    task = made / "task" / "7"
    task.mkdir(parents=True)
    for name, text in {"stat": SEEN, "status": STATUS, **files}.items():
        (made / name).write_text(text)
        (task / name).write_text(text)
    return made


def test_the_name_of_a_process_may_hold_brackets_and_spaces(tmp_path: Path) -> None:
    actual = proc_files.stat(folder(tmp_path))
    layout = (0x7FFE0000, 13, 0x400000, 11, 14, 16)
    assert actual == proc_files.Stat("a (b) c", "S", 1, 4194304, 42, 555, layout)


def test_what_the_kernel_hides_from_us_is_no_layout(tmp_path: Path) -> None:
    actual = proc_files.stat(folder(tmp_path, stat=UNSEEN))
    assert actual is not None
    assert actual.layout == ()


def test_ids_of_the_inner_namespace_come_last(tmp_path: Path) -> None:
    folder(tmp_path, status=STATUS + SWITCHES, wchan="0", cmdline="a\0b c\0\0")
    actual = procfs.read(7, 0, 1.5, tmp_path)
    assert actual is not None
    assert (actual["namespace_pid"], actual["tasks"][0]["inner_tid"]) == (3, 3)
    assert (actual["uid"], actual["command"], actual["time"]) == (1000, ["a", "b c"], 1.5)


def test_a_task_is_told_with_the_mapping_of_its_stack_pointer(tmp_path: Path) -> None:
    call = "202 0x601000 0x189 0x0 0x0 0x0 0xffffffff 0x7f0000010100 0x400100\n"
    folder(tmp_path, maps=MAPS, syscall=call, wchan="futex_do_wait", status=STATUS + SWITCHES)
    actual = procfs.read(7, 1, 0.0, tmp_path)
    assert actual is not None
    assert actual["tasks"] == [
        {
            "tid": 7,
            "inner_tid": 3,
            "name": "a (b) c",
            "state": "S",
            "wchan": "futex_do_wait",
            "syscall": call.strip(),
            "ticks": 42,
            "switches": 9,
            "stack": ["0x7f0000010000", "0x7f0000020000"],
            "stack_name": None,
        }
    ]


def test_a_running_task_has_no_stack_pointer_to_tell(tmp_path: Path) -> None:
    folder(tmp_path, maps=MAPS, syscall="running\n")
    actual = procfs.read(7, 1, 0.0, tmp_path)
    assert actual is not None
    assert (actual["tasks"][0]["syscall"], actual["tasks"][0]["stack"]) == ("running", None)


def test_what_may_not_be_read_is_none(tmp_path: Path) -> None:
    folder(tmp_path, stat=UNSEEN)
    actual = procfs.read(7, 0, 0.0, tmp_path)
    assert actual is not None
    task = actual["tasks"][0]
    assert (actual["executable"], actual["python"], actual["layout"], actual["files"]) == (None, None, [], {})
    assert (task["syscall"], task["wchan"], task["switches"], task["stack"]) == (None, None, None, None)


def test_a_process_that_is_gone_is_none(tmp_path: Path) -> None:
    assert procfs.read(7, 0, 0.0, tmp_path) is None


def test_mappings_know_their_names_and_who_shares_them(tmp_path: Path) -> None:
    actual = maps.read(folder(tmp_path, maps=MAPS))
    assert [(each.name, each.shared) for each in actual] == [
        ("/usr/bin/program with space", False),
        ("[heap]", False),
        ("/dev/sem.x", True),
        (None, False),
    ]
    assert maps.around(actual, 0x6FFFFF) == actual[1]
    assert maps.around(actual, 0x700000) is None
    assert maps.around(actual, 0) is None


def test_pipes_are_told_with_their_end_and_other_files_not_at_all() -> None:
    reading, writing = os.pipe()
    try:
        look = procfs.read(os.getpid(), 0, 0.0)
        assert look is not None
        name = os.readlink(f"/proc/self/fd/{reading}")
        assert (look["files"][str(reading)], look["files"][str(writing)]) == (f"{name}:r", f"{name}:w")
        assert not any(file.startswith("/dev") for file in look["files"].values())
    finally:
        os.close(reading)
        os.close(writing)


def test_a_named_fifo_is_a_pipe_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    descriptor = os.open(tmp_path / "fifo", os.O_RDWR)
    try:
        look = procfs.read(os.getpid(), 0, 0.0)
        assert look is not None
        assert look["files"][str(descriptor)] == f"{tmp_path / 'fifo'}:rw"
    finally:
        os.close(descriptor)


def test_the_record_is_json() -> None:
    look = procfs.read(os.getpid(), 0, 0.0)
    assert json.loads(json.dumps(look)) == look


def test_the_version_of_every_cpython_is_read_from_its_file(start: Callable[..., Tuple[int, ...]], python: str) -> None:
    expected = subprocess.run(
        [python, "-c", "import platform; print(platform.python_version())"],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout.strip()
    pid = start("import time; print('ready', flush=True); time.sleep(600)", python=python)[0]
    path = Path("/proc") / str(pid)
    assert python_version.read(path, maps.read(path)) == expected


def test_what_is_no_python_has_no_version() -> None:
    program = subprocess.Popen(["/bin/sleep", "600"])
    try:
        look = procfs.read(program.pid, 0, 0.0)
        assert look is not None
        assert look["python"] is None
    finally:
        program.kill()
        program.wait()

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from ctypes import CDLL, c_long, c_void_p
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import pytest

from forkhang_ipy.capture import gdb, native, own, proc_files, py_spy, pystack
from forkhang_ipy.capture.records import Options, records
from forkhang_ipy.capture.sources import Limits, SourceFailed

Start = Callable[..., Tuple[int, ...]]

QUICK = Options(interval=0.05)
FAILING_PY_SPY = "#!/bin/sh\necho 'Error: Failed\n\nCaused by:\n    0: first\n    1: the last reason' >&2\nexit 1\n"
SPINNING = "import time\nprint('ready', flush=True)\nwhile True: pass"
LOCAL_VARIABLE = """
import time
def sleep(wanted):
    print("ready", flush=True)
    time.sleep(600)
sleep(42)
"""
SLEEPING = "import time; print('ready', flush=True); time.sleep(600)"
CHILD_THAT_ENDS = """
import os, time
child = os.fork()
if not child:
    time.sleep(0.6)
    os._exit(0)
print("ready", child, flush=True)
time.sleep(600)
"""
LOOKING_AGAIN_AND_AGAIN = """
import sys
from forkhang_ipy.capture.records import Options, records
print("ready", flush=True)
while True:
    try:
        while True:
            records(int(sys.argv[1]), Options(interval=0.01))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.stdin.readline()
"""


def documents(texts: Tuple[str, ...]) -> List[Dict[str, Any]]:
    """Our own records, read; what py-spy printed is a list and left out."""
    read = (json.loads(text) for text in texts)
    return [document for document in read if isinstance(document, dict)]


def of(texts: Tuple[str, ...], kind: str) -> List[Dict[str, Any]]:
    return [document for document in documents(texts) if document["forkhang"] == kind]


def py_spy_pids(texts: Tuple[str, ...]) -> List[int]:
    read = (json.loads(text) for text in texts)
    return sorted(document[0]["pid"] for document in read if isinstance(document, list))


def state(pid: int) -> Tuple[str, str]:
    lines = proc_files.status(proc_files.PROC / str(pid))
    return lines["State"][0], lines["TracerPid"]


def test_a_hung_child_and_its_parent_are_seen_from_every_side(start: Start, lock_held_at_fork: str) -> None:
    parent, child = start(lock_held_at_fork)
    texts = records(child, QUICK)
    assert [(look["pid"], look["sample"]) for look in of(texts, "proc/1")] == [
        (parent, 0),
        (child, 0),
        (parent, 1),
        (child, 1),
    ]
    assert py_spy_pids(texts) == sorted([parent, child])
    assert [(look["pid"], look["source"]) for look in of(texts, "stacks/1")] == [(parent, "libdw"), (child, "libdw")]
    assert [look["pid"] for look in of(texts, "memory/1")] == [parent, child]
    summary = documents(texts)[-1]
    assert (summary["forkhang"], summary["target"], summary["samples"]) == ("capture/1", child, 2)
    assert (summary["gaps"], summary["ended"]) == ([], [])


def test_fork_copies_the_layout_and_exec_does_not(start: Start, lock_held_at_fork: str) -> None:
    parent, child = start(lock_held_at_fork)
    looks = {look["pid"]: look for look in of(records(parent, QUICK), "proc/1")}
    assert looks[child]["layout"] == looks[parent]["layout"] != looks[os.getpid()]["layout"]


def test_the_original_of_the_inherited_lock_is_read_in_the_parent(start: Start, lock_held_at_fork: str) -> None:
    parent, child = start(lock_held_at_fork)
    words = {record["pid"]: record["words"] for record in of(records(child, QUICK), "memory/1")}
    addresses = {pid: {word["address"] for word in found} for pid, found in words.items()}
    assert addresses[child] <= addresses[parent]
    assert all(len(word["hex"]) == 96 and word["shared"] is False for found in words.values() for word in found)


def test_ourselves_as_the_parent_are_seen_without_a_debugger(start: Start) -> None:
    child = start(SLEEPING)[0]
    texts = records(child, QUICK)
    (ours,) = [look for look in of(texts, "stacks/1") if look["pid"] == os.getpid()]
    (main,) = [thread for thread in ours["threads"] if thread["name"] == "MainThread"]
    assert (ours["source"], ours["sample"], main["tid"], main["native"]) == ("python", 1, os.getpid(), [])
    assert main["python"][0]["function"] == "test_ourselves_as_the_parent_are_seen_without_a_debugger"
    assert not any(thread["name"].startswith("forkhang") for thread in ours["threads"])


def test_a_process_that_burns_cpu_is_unwound_twice(start: Start) -> None:
    pid = start(SPINNING)[0]
    texts = records(pid, Options(interval=0.1))
    assert [(look["pid"], look["sample"]) for look in of(texts, "stacks/1") if look["source"] == "libdw"] == [
        (pid, 0),
        (pid, 1),
    ]


def test_without_native_nothing_is_unwound(start: Start) -> None:
    texts = records(start(SLEEPING)[0], Options(native=False, samples=1))
    assert {look["source"] for look in of(texts, "stacks/1")} == {"python"}
    assert documents(texts)[-1]["samples"] == 1


def test_local_variables_come_when_asked_for(start: Start) -> None:
    pid = start(LOCAL_VARIABLE)[0]
    assert not any('"42"' in text for text in records(pid, Options(samples=1)))
    assert any('"42"' in text for text in records(pid, Options(samples=1, locals=True)))


def test_pystack_steps_in_for_py_spy_and_the_gap_tells_why(
    start: Start, lock_held_at_fork: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    failing = tmp_path / "py-spy"
    failing.write_text(FAILING_PY_SPY)
    failing.chmod(0o755)
    monkeypatch.setattr(py_spy, "program", lambda: str(failing))
    parent, child = start(lock_held_at_fork)
    texts = records(child, QUICK)
    by_pystack = {look["pid"]: look for look in of(texts, "stacks/1") if look["source"] == "pystack"}
    assert sorted(by_pystack) == sorted([parent, child])
    holder = [thread for thread in by_pystack[parent]["threads"] if thread["python"][0]["function"] == "hold"]
    assert len(holder) == 1
    assert sorted(gap["process"] for gap in documents(texts)[-1]["gaps"]) == sorted([parent, child])
    assert documents(texts)[-1]["gaps"][0]["why"] == "py-spy: the last reason"
    assert documents(texts)[-1]["gaps"][0]["what"] == "python stack"


def test_gdb_steps_in_for_libdw(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> native.Unwound:
        raise SourceFailed("there is no libdw here", "Install it.")

    try:
        gdb.native_stacks(start(SLEEPING)[0], Limits(30.0))
    except SourceFailed as failure:
        pytest.skip(failure.why)
    monkeypatch.setattr(native, "unwind", failing)
    pid = start(SLEEPING)[0]
    texts = records(pid, Options(samples=1))
    assert any(f"[Inferior 1 (process {pid}) detached]" in text for text in texts)
    assert [gap["why"] for gap in documents(tuple(t for t in texts if t[0] == "{"))[-1]["gaps"]] == [
        "there is no libdw here"
    ]


def test_pystack_sees_the_same_from_here_and_from_apart(start: Start, lock_held_at_fork: str) -> None:
    child = start(lock_held_at_fork)[1]
    apart = pystack.python_stacks(child, 1, Limits(10.0))
    assert pystack.python_stacks(child, 1, Limits(10.0), here=True) == apart
    assert json.loads(apart)["threads"][0]["python"][-1]["function"] == "<module>"


def test_a_child_that_ends_half_way_is_told_and_the_rest_is_still_seen(start: Start) -> None:
    parent, child = start(CHILD_THAT_ENDS)
    texts = records(parent, Options(interval=1.0))
    summary = documents(texts)[-1]
    assert summary["ended"] == [child]
    assert [(gap["process"], gap["why"]) for gap in summary["gaps"]] == [(child, "it ended while it was looked at")]
    assert py_spy_pids(texts) == [parent]


def test_a_process_that_another_debugger_holds_is_left_to_it(start: Start) -> None:
    pid = start(SLEEPING)[0]
    ptrace = CDLL(None).ptrace
    ptrace.restype, ptrace.argtypes = c_long, (c_long, c_long, c_void_p, c_void_p)
    seize = 0x4206
    assert ptrace(seize, pid, None, None) == 0
    texts = records(pid, QUICK)
    (gap,) = documents(texts)[-1]["gaps"]
    assert gap["process"] == pid
    assert gap["why"].startswith(f"a debugger holds it already: process {os.getpid()} (")
    assert py_spy_pids(texts) == []


def test_a_hung_process_is_left_as_it_was_found(start: Start, lock_held_at_fork: str) -> None:
    pids = start(lock_held_at_fork)
    records(pids[0], QUICK)
    assert [state(pid) for pid in pids] == [("S", "0"), ("S", "0")]


def test_a_thread_of_ours_that_waits_for_the_target_is_not_told_of_its_stop() -> None:
    program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    ends: List[Tuple[int, int]] = []
    waiting = threading.Thread(target=lambda: ends.append(os.waitpid(program.pid, 0)))
    waiting.start()
    try:
        for _ in range(5):
            records(program.pid, Options(samples=1))
        assert ends == []
    finally:
        os.kill(program.pid, signal.SIGKILL)
        waiting.join()
    assert ends == [(program.pid, signal.SIGKILL)]


def test_a_stopped_process_stays_stopped(start: Start) -> None:
    pid = start(SLEEPING)[0]
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.05)
    records(pid, QUICK)
    assert state(pid) == ("T", "0")


def test_an_interruption_at_any_moment_leaves_nothing_behind(start: Start, lock_held_at_fork: str) -> None:
    pids = start(lock_held_at_fork)
    looking = subprocess.Popen(
        [sys.executable, "-c", LOOKING_AGAIN_AND_AGAIN, str(pids[1])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert looking.stdout
    assert looking.stdin
    try:
        assert looking.stdout.readline() == "ready\n"
        for turn in range(20):
            time.sleep(0.02 + 0.0137 * turn)
            looking.send_signal(signal.SIGINT)
            assert looking.stdout.readline() == "interrupted\n"
            assert [state(pid) for pid in pids] == [("S", "0"), ("S", "0")]
            looking.stdin.write("\n")
            looking.stdin.flush()
    finally:
        looking.kill()
        looking.wait()
        looking.stdin.close()
        looking.stdout.close()


def test_a_tool_that_overruns_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sleeping = tmp_path / "py-spy"
    sleeping.write_text("#!/bin/sh\nsleep 77777\n")
    sleeping.chmod(0o755)
    monkeypatch.setattr(py_spy, "program", lambda: str(sleeping))
    with pytest.raises(SourceFailed, match="time limit"):
        py_spy.python_stacks(os.getpid(), Limits(0.2), local_variables=False)
    assert subprocess.run(["/usr/bin/pgrep", "-f", "sleep 77777"], stdout=subprocess.PIPE, check=False).stdout == b""


def test_our_own_stack_begins_where_we_were_called() -> None:
    (main,) = [each for each in json.loads(own.python_stacks(0))["threads"] if each["name"] == "MainThread"]
    assert main["python"][0]["function"] == "test_our_own_stack_begins_where_we_were_called"

"""Which parts are of one process, and whose a section is."""

from __future__ import annotations

from typing import List, Optional

import pytest

from forkhang_ipy import formats
from forkhang_ipy.formats.join import join
from forkhang_ipy.formats.whose import whose
from forkhang_ipy.model import Dump, Frame, Process, Thread

HERE = (Frame("acquire", "a.py", 1),)
THERE = (Frame("wait", "b.py", 2),)
NATIVE = (Frame("futex_wait", module="libc.so.6"),)


def pids(*processes: Process) -> List[Optional[int]]:
    return [process.pid for process in join([Dump(processes=(process,)) for process in processes]).processes]


def test_a_parent_and_its_child_share_pthread_ids_and_stay_two() -> None:
    assert pids(Process(1, threads=(Thread(ident=9),)), Process(2, threads=(Thread(ident=9),))) == [1, 2]


def test_a_part_without_a_pid_goes_where_its_pthread_id_is_if_one_process_alone_has_it() -> None:
    part = Process(None, threads=(Thread(ident=9, native=NATIVE),))
    parent, child = Process(1, threads=(Thread(ident=9),)), Process(2, threads=(Thread(ident=9),))
    assert pids(part, parent) == [1]
    assert pids(part, parent, child) == [1, 2, None]


def test_another_python_stack_of_the_same_number_is_another_process() -> None:
    rank = Process(None, threads=(Thread(tid=1, python=THERE),))
    assert pids(Process(1, threads=(Thread(tid=1, python=HERE),)), rank) == [1, None]


def test_a_tracers_line_of_a_thread_is_that_thread() -> None:
    traced = Process(12, threads=(Thread(tid=12, ghost=False),))
    assert pids(Process(10, tasks=(10, 12), threads=(Thread(tid=12, native=NATIVE),)), traced) == [10]


def test_the_tid_that_a_child_inherited_makes_its_parent_no_thread_of_it() -> None:
    early_child = Process(20, threads=(Thread(ident=9, tid=10, python=HERE),))
    assert pids(early_child, Process(10, threads=(Thread(tid=10, ghost=False),))) == [20, 10]


@pytest.mark.parametrize(
    ("line", "pid"),
    [
        ("$ py-spy dump --pid 4242", 4242),
        ("root@host:~# gdb -p 4242", 4242),
        ("$ gdb python -p 4242", 4242),
        ("sudo strace -f -p 4242", 4242),
        ("# cat /proc/4242/stack   (Threads: 1)", 4242),
        ("$ pystack remote --native 4242", 4242),
        ("(gdb) bt 7    # pid 4242", 4242),
        ("(gdb) attach 4242", 4242),
        ("# parent: pid 4242", 4242),
        ("# child 4242", 4242),
        ("Worker process 7:", 7),
        ("=== PID 4242 ===", 4242),
        ("# child", None),
        ("# rank 3", None),
        ("# worker 12", None),
        ("Child process:", None),
    ],
)
def test_a_heading_tells_whose_stacks_follow(line: str, pid: object) -> None:
    said = whose(line)
    assert said is not None
    assert said.pid == pid


@pytest.mark.parametrize(
    "line", ["Starting child process 4242", "#0  0x00 in main ()", "(gdb) bt", "we saw that process 12 hangs", "x = 3"]
)
def test_a_line_of_a_log_or_of_prose_is_no_heading(line: str) -> None:
    assert whose(line) is None


def test_each_heading_begins_another_process() -> None:
    stack = "read (libc.so.6)\nrecv_bytes (multiprocessing/connection.py:221)\n"
    dump = formats.parse(f"# one worker\n{stack}\n# another worker\n{stack}")
    assert [process.label for process in dump.processes] == ["# one worker", "# another worker"]


def test_noise_between_two_threads_parts_no_process() -> None:
    dump = formats.parse('Thread 1 (idle): "a"\n  f (a.py:1)\n\nsome noise\n\nThread 2 (idle): "b"\n  f (a.py:1)\n')
    assert [len(process.threads) for process in dump.processes] == [2]
    assert dump.unread == ("some noise",)

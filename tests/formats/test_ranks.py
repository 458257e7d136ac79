"""A file's name, a prefix or a heading says rank, host and pid, where a word says that a number is one."""

from __future__ import annotations

from typing import List, Optional, Tuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkhang_ipy import formats
from forkhang_ipy.formats import file
from forkhang_ipy.formats.ranks import Origin, of_file, of_label

STACK = 'Thread 17 (idle): "MainThread"\n    f (a.py:1)\n'


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rank3.txt", Origin(rank=3)),
        ("rank-003.log", Origin(rank=3)),
        ("rank_12.txt.gz", Origin(rank=12)),
        ("global_rank=5.txt", Origin(rank=5)),
        ("node12_rank3_py-spy.txt", Origin(rank=3, host="node12")),
        ("worker-7", Origin(rank=7)),
        ("worker1-rank3.log", Origin(rank=3, host="worker1")),
        ("hang.host1.pid123", Origin(host="host1", pid=123)),
        ("node12/rank3.txt", Origin(rank=3, host="node12")),
        ("rank_3/py-spy.txt", Origin(rank=3)),
        (r"C:\dumps\node4\rank0.txt", Origin(rank=0, host="node4")),
        ("gpu-node-03.txt", Origin(host="gpu-node-03")),
        ("ip-10-0-3-17.rank1.txt", Origin(rank=1, host="ip-10-0-3-17")),
        ("10.0.3.17_rank1.txt", Origin(rank=1, host="10.0.3.17")),
        ("frank3.txt", Origin()),
        ("localhost.txt", Origin()),
        ("py-spy.txt", Origin()),
        ("dump_2025-01-02.txt", Origin()),
        ("", Origin()),
    ],
)
def test_the_name_of_a_file(name: str, expected: Origin) -> None:
    assert of_file(name) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("[rank3]", Origin(rank=3)),
        ("[default3]", Origin(rank=3)),
        ("[1,3]<stdout>:", Origin(rank=3)),
        ("# rank 3", Origin(rank=3)),
        ("Rank: 3", Origin(rank=3)),
        ("(RayWorker pid=42, ip=10.0.0.3)", Origin(host="10.0.0.3")),
        ("# worker 12", Origin()),
        ("# ranks 0-7", Origin()),
        (None, Origin()),
    ],
)
def test_a_prefix_or_a_heading(label: Optional[str], expected: Origin) -> None:
    assert of_label(label) == expected


@given(st.text(max_size=60))
def test_no_name_is_a_surprise(name: str) -> None:
    for origin in (of_file(name), of_label(name)):
        assert origin.rank is None or 0 <= origin.rank < 10**9


def where(*records: str) -> List[Tuple[Optional[int], Optional[int], Optional[str]]]:
    return [(process.pid, process.rank, process.host) for process in formats.parse(*records).processes]


def test_the_same_pid_in_the_files_of_two_ranks_is_two_processes() -> None:
    process = f"Process 17: python\nPython v3.11.7\n\n{STACK}"
    assert where(file.write("rank0.txt"), process, file.write("rank1.txt"), process) == [(17, 0, None), (17, 1, None)]


def test_the_same_pid_in_two_files_of_one_rank_is_one_process() -> None:
    process = f"Process 17: python\nPython v3.11.7\n\n{STACK}"
    native = "(gdb) attach 17\nThread 1 (LWP 17):\n#0  0x0000000000000001 in read () from /lib/libc.so.6\n"
    both = formats.parse(file.write("rank3_py-spy.txt"), process, file.write("rank3_gdb.log"), native)
    (thread,) = both.processes[0].threads
    assert [frame.function for frame in thread.python + thread.native] == ["f", "read"]


def test_a_file_without_a_rank_joins_the_only_process_that_it_may_be() -> None:
    process = f"Process 17: python\nPython v3.11.7\n\n{STACK}"
    assert where(file.write("rank3.txt"), process, file.write("gdb.log"), process) == [(17, 3, None)]


def test_a_pid_in_the_name_is_that_of_a_process_without_a_number() -> None:
    trace = 'Current thread 0x00007f00bb00cb80 (most recent call first):\n  File "a.py", line 1 in f\n'
    assert where(file.write("hang.host1.pid123"), trace) == [(123, None, "host1")]


def test_a_prefix_says_the_rank() -> None:
    text = "".join(
        f'[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File "a.py", line 1, in f\n'
        f"[rank{rank}]: KeyboardInterrupt\n"
        for rank in (0, 1)
    )
    assert [rank for _, rank, _ in where(text)] == [0, 1]

"""Many files are one hang: folders, globs, standard input, archives; what belongs together is joined."""

from __future__ import annotations

import gzip
import json
import lzma
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, List, Optional, Tuple

import pytest

import forkhang_ipy
from forkhang_ipy import formats
from forkhang_ipy.analysis import diagnose as one_island
from forkhang_ipy.analysis import twins
from forkhang_ipy.errors import EmptyDump, FileUnreadable, UnknownDump
from forkhang_ipy.model import Verdict
from tests import live

ODD = (3, 77, 200)
SECONDS = 60.0
"""Far more than it takes."""


def dump(pid: int, call: str = "all_reduce (torch/distributed/distributed_c10d.py:88)") -> str:
    return (
        f"Process {pid}: python train.py\nPython v3.11.7 (/usr/bin/python3.11)\n\n"
        f'Thread {pid} (idle): "MainThread"\n    {call}\n    train (train.py:33)\n    <module> (train.py:99)\n'
        f'Thread {pid + 5} (idle): "Thread-1 (_pin)"\n    wait (threading.py:320)\n    _pin (pin.py:3)\n'
    )


def write_ranks(folder: Path, count: int) -> None:
    for rank in range(count):
        call = {"call": "save (ckpt.py:12)"} if rank in ODD else {}
        (folder / f"rank{rank}.txt").write_text(dump(17, **call))


def ranks(report: forkhang_ipy.Report) -> List[Optional[int]]:
    return [process.rank for process in report.dump.processes]


def test_of_a_thousand_ranks_the_three_odd_ones_are_named(tmp_path: Path) -> None:
    write_ranks(tmp_path, 1000)
    started = time.monotonic()
    report = forkhang_ipy.read(tmp_path)
    text = report.to_text()
    assert time.monotonic() - started < SECONDS
    groups = report.groups()
    odd = groups[groups.odd]
    assert odd[["ranks", "function", "count"]].to_numpy().tolist() == [["3,77,200", "save", 3]]
    assert "odd: ranks 3,77,200: save (ckpt.py:12) · 3 threads\n" in text
    assert ranks(report) == list(range(1000))


def test_a_folder_a_glob_and_single_files_are_the_same(tmp_path: Path) -> None:
    write_ranks(tmp_path, 12)
    whole = forkhang_ipy.read(tmp_path).to_json()
    assert forkhang_ipy.read(tmp_path / "*.txt").to_json() == whole
    assert forkhang_ipy.read(f"{tmp_path}/rank[0-9].txt", f"{tmp_path}/rank1[01].txt").to_json() == whole
    assert forkhang_ipy.read(*(tmp_path / f"rank{rank}.txt" for rank in range(12))).to_json() == whole


def test_a_saved_report_of_many_files_gives_the_same_answer(tmp_path: Path) -> None:
    write_ranks(tmp_path, 12)
    (tmp_path / "notes.txt").write_text("nothing hangs today\n")
    report = forkhang_ipy.read(tmp_path)
    report.save(tmp_path / "all.forkhang")
    assert forkhang_ipy.read(tmp_path / "all.forkhang").to_json() == report.to_json()


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_gz_and_xz_open_whatever_they_are_called(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "rank3.txt").write_bytes(pack(dump(17).encode()))
    assert ranks(forkhang_ipy.read(tmp_path / "rank3.txt")) == [3]


def test_text_of_powershell_opens(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(dump(17).encode("utf-16"))
    assert forkhang_ipy.read(tmp_path / "a.txt").dump.processes[0].pid == 17


def test_standard_input_is_a_dash() -> None:
    command = [sys.executable, "-m", "forkhang_ipy", "-", "--json"]
    done = subprocess.run(command, input=dump(17), capture_output=True, text=True, timeout=60, check=True)
    assert [process["pid"] for process in json.loads(done.stdout)["processes"]] == [17]


def test_a_file_without_a_stack_among_others_is_a_gap_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(dump(17))
    (tmp_path / "empty.txt").write_text(" \n")
    (tmp_path / "notes.txt").write_text("nothing hangs today\n")
    (tmp_path / "torn.gz").write_bytes(gzip.compress(b"x" * 1000)[:20])
    report = forkhang_ipy.read(tmp_path)
    assert [gap.why.split(";")[0] for gap in report.dump.gaps] == [
        f"{tmp_path}/empty.txt is empty.",
        f"No stack was found in {tmp_path}/notes.txt",
        f"{tmp_path}/torn.gz cannot be read: it is a torn archive.",
    ]
    assert report.dump.unread == ("nothing hangs today",)
    assert f"No stack was found in {tmp_path}/notes.txt"[:40] in report.to_text(width=400)


def test_where_no_file_has_a_stack_it_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("nothing\n")
    (tmp_path / "b.txt").write_text("nothing\n")
    with pytest.raises(
        UnknownDump, match=r"No stack was found in .*a\.txt; looked for: py-spy JSON, .*, our own bundle"
    ):
        forkhang_ipy.read(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "fact"),
    [("core.17", b"\x7fELF\x02\x01", "is a core file or a program"), ("all.zip", b"PK\x03\x04x", "is a zip archive")],
)
def test_what_is_no_text_is_refused_with_a_way_out(name: str, content: bytes, fact: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileUnreadable, match=fact):
        forkhang_ipy.read(tmp_path / name)


def test_a_glob_that_matches_nothing_and_an_empty_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileUnreadable, match="There is no file"):
        forkhang_ipy.read(tmp_path / "*.txt")
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(EmptyDump, match="is empty"):
        forkhang_ipy.read(tmp_path / "a.txt")


def test_the_same_pid_on_two_hosts_is_two_processes_and_the_gravest_answer_is_that_of_all(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parent / "dumps" / "logging-lock.txt", tmp_path / "node1_rank0.txt")
    (tmp_path / "node2_rank1.txt").write_text(dump(17))
    alone = forkhang_ipy.read(tmp_path / "node1_rank0.txt")
    both = forkhang_ipy.read(tmp_path)
    assert (both.verdict, both.confidence) == (alone.verdict, alone.confidence)
    assert both.summary == f"Rank 0 on node1: {alone.summary}"
    assert {process.host for process in both.dump.processes} == {"node1", "node2"}


def test_twins_get_the_diagnosis_that_they_would_get_alone() -> None:
    paths = sorted((Path(__file__).parent / "dumps").glob("*.txt"))
    for path in paths:
        report = forkhang_ipy.read(path)
        shapes = twins.Shapes()
        bare = formats.parse(path.read_text("utf-8"))
        if not bare.processes or shapes.of(bare) is None:
            continue
        told = twins.told_of(bare, one_island.diagnose(bare))
        assert (told.verdict, told.stuck, told.dump) == (report.verdict, report.stuck, report.dump)
        assert [finding.thread for finding in told.findings] == [finding.thread for finding in report.findings]


def test_one_large_file_is_read_in_four_times_its_size(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    with path.open("w") as file:
        for pid in range(1000, 61000, 30):
            file.write(
                dump(pid) + "".join(f"    call_{pid % 7}_{depth} (pkg/m{depth}.py:{depth})\n" for depth in range(200))
            )
    program = (
        "import resource, sys; from forkhang_ipy import api, formats; import forkhang_ipy.analysis.islands\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "api.read(sys.argv[1])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=300, check=True
    )
    assert int(done.stdout) * 1024 <= 4 * path.stat().st_size


def tool(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        live.unavailable(f"no {name} on this machine")
    return found


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def stacks_of(report: forkhang_ipy.Report, pid: int) -> Tuple[int, int]:
    process = report.dump.process(pid)
    assert process is not None
    main = next(thread for thread in process.threads if not thread.ghost and thread.tid == pid)
    return len(main.python), len(main.native)


def test_a_py_spy_text_and_a_gdb_log_of_the_same_hung_child_are_one_answer(tmp_path: Path) -> None:
    with live.hanging("threading_lock.py") as hang:
        assert hang.child is not None
        (tmp_path / "py-spy.txt").write_text(output(tool("py-spy"), "dump", "--pid", str(hang.child)))
        commands = ["-ex", "thread apply all bt"]
        (tmp_path / "gdb.log").write_text(output(tool("gdb"), "-p", str(hang.child), "-batch", "-nx", *commands))
        at_once = forkhang_ipy.diagnose(hang.child)
    report = forkhang_ipy.read(tmp_path)
    assert report.verdict is at_once.verdict is Verdict.FORK_DEADLOCK
    assert [process.pid for process in report.dump.processes] == [hang.child]
    python, native = stacks_of(report, hang.child)
    assert python
    assert native

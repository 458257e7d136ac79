"""A report answers questions: tidy tables, groups of identical stacks, the prefix tree, what moved."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Dict, List

import pytest

import forkhang_ipy
from forkhang_ipy.analysis.groups import groups, ranges
from forkhang_ipy.analysis.tree import tree
from forkhang_ipy.model import Dump, Frame, Process, Thread
from tests.test_many_files import dump, write_ranks

DUMPS = Path(__file__).parent / "dumps"
TYPES = {
    "processes": "process Int64 rank Int64 host string pid Int64 parent Int64 label string command string"
    " executable string python string forked boolean state string ended boolean threads Int64",
    "threads": "process Int64 thread Int64 rank Int64 pid Int64 tid Int64 ident UInt64 name string state string"
    " ghost boolean stuck boolean holds_gil boolean active boolean error string function string file string line Int64",
    "frames": "process Int64 thread Int64 stack string depth Int64 function string file string line Int64"
    " module string address UInt64 source string",
    "waits": "process Int64 thread Int64 kind string told string call string target Int64 file string"
    " address UInt64 value Int64 private boolean timeout boolean stuck boolean",
}
HOSTILE = (
    "<script>alert(1)</script>",
    "\x1b]0;owned\x07\x1b[31mred\x1b[0m",
    "std::unordered_map<std::string, std::vector<int, std::allocator<int> > >::at(std::string const&)",
    "_RNvXs1_NtCs5l0EXMQXRMU_4core3fmtINtNtB7_6option6OptionNtNtB7_6string6StringENtB5_5Debug3fmt",
    "<lambda>",
    "a (strange) name",
    "операция_ожидания",
    "\u202eevil\u2066",
    "x" * 100_000,
)


class Tags(HTMLParser):
    def __init__(self, document: str) -> None:
        super().__init__()
        self.names: List[str] = []
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        self.names.append(tag)


def types(report: forkhang_ipy.Report, name: str) -> str:
    table = getattr(report, name)
    return " ".join(f"{column} {kind}" for column, kind in table.dtypes.items())


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("path", [DUMPS / "tree.json", DUMPS / "logging-lock.txt"], ids=lambda path: path.name)
def test_a_table_has_the_columns_and_types_that_are_documented(name: str, path: Path) -> None:
    assert types(forkhang_ipy.read(path), name) == TYPES[name]


def test_the_tables_hold_all_that_was_seen_and_join_by_their_keys() -> None:
    report = forkhang_ipy.read(DUMPS / "tree.json")
    threads = [thread for process in report.dump.processes for thread in process.threads]
    assert len(report.processes) == len(report.dump.processes)
    assert len(report.threads) == len(threads)
    assert len(report.frames) == sum(len(thread.python) + len(thread.native) for thread in threads)
    assert len(report.waits) == sum(thread.wait is not None for thread in threads)
    assert report.frames.set_index(["process", "thread", "stack", "depth"]).index.is_unique
    joined = report.waits.merge(report.threads, on=["process", "thread"])
    assert len(joined) == len(report.waits)
    assert int(report.threads.stuck.sum()) == sum(
        not thread.ghost
        for process in report.dump.processes
        for thread in process.threads
        if report.is_stuck(process.pid, thread.tid)
    )


def test_a_number_that_no_column_holds_is_unknown_there(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(
        f'Thread {"9" * 30} (idle): "MainThread"\n    f (a.py:{"9" * 30})\n    g (a.py:1)\n'
    )
    report = forkhang_ipy.read(tmp_path / "a.txt")
    assert report.threads.tid.isna().all()
    assert report.frames.line.isna().tolist() == [True, False]


def test_the_prefix_tree_has_the_ranks_of_each_branch(tmp_path: Path) -> None:
    write_ranks(tmp_path, 12)
    assert str(forkhang_ipy.read(tmp_path).tree()) == (
        "24 threads of ranks 0-11: all stacks\n"
        "  12 threads of ranks 0-11: <module> (train.py:99) → train (train.py:33)\n"
        "    11 threads of ranks 0-2,4-11: all_reduce (distributed_c10d.py:88)\n"
        "    1 thread of ranks 3: save (ckpt.py:12)\n"
        "  12 threads of ranks 0-11: _pin (pin.py:3) → wait (threading.py:320)"
    )


def test_what_moved_between_two_dumps(tmp_path: Path) -> None:
    texts: Dict[str, str] = {
        "before.txt": dump(17) + 'Thread 30 (idle): "gone"\n    f (a.py:1)\n',
        "after.txt": dump(17, "forward (model.py:7)") + 'Thread 31 (idle): "new"\n    f (a.py:1)\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    before, after = (forkhang_ipy.read(tmp_path / name) for name in texts)
    found = before.diff(after)
    assert found[["name", "moved", "before", "after"]].fillna("").to_numpy().tolist() == [
        ["MainThread", "moved", "all_reduce (torch/distributed/distributed_c10d.py:88)", "forward (model.py:7)"],
        ["Thread-1 (_pin)", "same", "", ""],
        ["gone", "gone", "", ""],
        ["new", "new", "", ""],
    ]


def processes(*stacks: str) -> Dump:
    """A process for each stack, ranks from 0; a stack is the letters of its calls, innermost first."""
    return Dump(
        processes=tuple(
            Process(
                pid=rank, rank=rank, threads=(Thread(tid=rank, python=tuple(Frame(call, "a.py", 1) for call in calls)),)
            )
            for rank, calls in enumerate(stacks)
        )
    )


def test_identical_stacks_are_one_group_and_a_few_among_many_are_odd() -> None:
    found = groups(processes("ba", "ba", "ca", "ba", "ba"))
    assert [(group.ranks, group.odd) for group in found] == [("0-1,3-4", False), ("2", True)]


def test_where_every_rank_is_elsewhere_nobody_is_odd() -> None:
    assert [group.odd for group in groups(processes("a", "b", "c", "d"))] == [False] * 4
    assert [group.odd for group in groups(processes("a", "b"))] == [False, False]
    assert groups(Dump()) == ()


def test_numbers_in_order_are_a_range() -> None:
    assert ranges([5, 0, 1, 2, None, 2]) == "0-2,5"
    assert ranges([3, 4]) == "3-4"
    assert ranges([None]) is None


def test_a_recursion_is_no_deep_tree() -> None:
    deep = processes("r" * 10_000 + "a", "r" * 9_000 + "a", "ba")
    shape = [(depth, branch.ranks, len(branch.frames)) for depth, branch in tree(deep).walk()]
    assert shape == [(0, "0-2", 1), (1, "0-1", 9_000), (2, "0", 1_000), (1, "2", 1)]


def test_a_stack_that_ends_where_another_goes_on_is_counted_in_the_branch_alone() -> None:
    assert [(branch.ranks, branch.count) for _, branch in tree(processes("a", "ba", "a")).walk()] == [
        ("0-2", 3),
        ("1", 1),
    ]
    assert tree(Dump()).count == 0


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("ranks", [1, 10])
def test_a_hostile_name_harms_nobody(name: str, ranks: int, tmp_path: Path) -> None:
    for rank in range(ranks):
        call = f"{name} (/w/каталог/{name[:50]}.py:3)"
        (tmp_path / f"rank{rank}.txt").write_text(
            f'Process 17: {name}\nPython v3.11.7\n\nThread 17 (idle): "{name[:100]}"\n    {call}\n    f (a.py:3)\n',
            "utf-8",
        )
    report = forkhang_ipy.read(tmp_path)
    text, html = report.to_text(), report.to_html()
    assert "\x1b" not in text + html
    assert "\u202e" not in text + html
    assert not {"script", "img", "iframe"} & set(Tags(html).names)
    assert max(map(len, text.split("\n"))) <= 100
    assert "<script" not in html
    assert len(report.frames) == 2 * ranks
    assert str(report.tree())


def test_a_recursion_of_ten_thousand_frames_passes_through(tmp_path: Path) -> None:
    deep = "    visit (walk.py:7)\n" * 10_000
    for rank in range(10):
        (tmp_path / f"rank{rank}.txt").write_text(
            f'Process 17: p\nPython v3.8.1\n\nThread 17 (idle): "a"\n{deep}    f (a.py:1)\n'
        )
    report = forkhang_ipy.read(tmp_path)
    assert len(report.frames) == 100_010
    assert "visit (walk.py:7), 10000 times" in str(report.tree())
    assert report.to_text()
    assert report.to_html()

"""The house stands: nothing imports upwards, the core touches nothing, and the folder holds what the design says."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Iterator, Set, Tuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "forkhang_ipy"
FLOORS = (
    {"model", "errors"},
    {"capture", "formats", "knowledge"},
    {"analysis", "cure"},
    {"views", "api", "demo"},
    {"ui", "cli", "__main__", "__init__"},
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS, 1) for room in rooms}
# Rooms on one floor that may lean on each other, beside those below.
NEIGHBOURS = {("cli", "demo"), ("ui", "cli"), ("__main__", "cli"), ("__init__", "ui"), ("api", "views")}
MAY_USE = {
    "analysis": {"model", "knowledge"},
    "cure": {"model", "knowledge"},
    "formats": {"model"},
    "knowledge": {"model"},
    "capture": {"model", "errors"},
    "views": {"model", "knowledge"},
}
CORE = ("model", "formats", "knowledge", "analysis", "views")
WORLD = {"os", "subprocess", "pathlib", "time", "datetime", "socket", "psutil", "ctypes", "signal", "threading", "mmap"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].replace(".py", "")


def imports(path: Path) -> Iterator[Tuple[str, ...]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((*node.module.split("."), alias.name) for alias in node.names)


def rooms_used(path: Path) -> Set[str]:
    ours = [name for name in imports(path) if name[0] == "forkhang_ipy" and len(name) > 1]
    return {name[1] for name in ours if name[1] in FLOOR} - {room(path)}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_imports_upwards_or_beside_what_the_design_allows(path: Path) -> None:
    here = room(path)
    too_high = {other for other in rooms_used(path) if FLOOR[other] >= FLOOR[here] and (here, other) not in NEIGHBOURS}
    assert too_high == set()
    assert rooms_used(path) - MAY_USE.get(here, set(FLOOR)) == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_module_is_in_a_room_of_the_design(path: Path) -> None:
    assert room(path) in FLOOR


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if room(path) + ("" if path.parent != PACKAGE else ".py") in CORE],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_the_core_opens_no_file_starts_no_program_and_reads_no_clock(path: Path) -> None:
    assert {name[0] for name in imports(path)} & WORLD == set()
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert calls & {"open", "print", "input", "exec", "eval"} == set()


def test_the_demonstrations_program_needs_the_standard_library_alone() -> None:
    names = {name[0] for name in imports(PACKAGE / "demo" / "train.py")}
    assert names <= {
        "__future__",
        "ctypes",
        "json",
        "multiprocessing",
        "sys",
        "threading",
        "time",
        "tracemalloc",
        "typing",
    }


def test_at_the_top_level_stands_what_the_design_lists_and_nothing_else() -> None:
    expected = {"pyproject.toml", "README.md", "LICENSE", "forkhang_ipy", "notebooks", "tests"}
    made_here = {"build", "dist"}
    assert {path.name for path in ROOT.iterdir() if not path.name.startswith(".")} - made_here <= expected


def test_no_module_is_longer_than_one_idea() -> None:
    lengths = {str(path.relative_to(PACKAGE)): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert {path: length for path, length in lengths.items() if length > 300} == {}

"""Paths and names, made short and safe."""

from __future__ import annotations

from typing import Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkhang_ipy.model import Frame
from forkhang_ipy.views.names import package, place, printable, short_file, shown_file


@pytest.mark.parametrize(
    ("path", "short", "seen", "of"),
    [
        ("/usr/lib/python3.11/threading.py", "threading.py", "threading.py", "threading"),
        (
            "/opt/p/lib/python3.8/multiprocessing/pool.py",
            "multiprocessing/pool.py",
            "multiprocessing/pool.py",
            "multiprocessing",
        ),
        ("/v/lib/python3.12/site-packages/torch/a/b.py", "torch/a/b.py", "torch/a/b.py", "torch"),
        ("/usr/lib/python3/dist-packages/apt/cache.py", "apt/cache.py", "apt/cache.py", "apt"),
        ("/v/lib/python3.13t/queue.py", "queue.py", "queue.py", "queue"),
        ("C:\\Python311\\Lib\\asyncio\\events.py", "asyncio/events.py", "asyncio/events.py", "asyncio"),
        (
            "<frozen importlib._bootstrap>",
            "<frozen importlib._bootstrap>",
            "<frozen importlib._bootstrap>",
            "importlib",
        ),
        ("multiprocessing/pool.py", "multiprocessing/pool.py", "multiprocessing/pool.py", "multiprocessing"),
        ("/home/ada/lib/work/train.py", "/home/ada/lib/work/train.py", "work/train.py", None),
        ("C:\\work\\train.py", "C:\\work\\train.py", "work/train.py", None),
        ("train.py", "train.py", "train.py", None),
        ("/tmp/ipykernel_12/3.py", "/tmp/ipykernel_12/3.py", "ipykernel_12/3.py", None),  # noqa: S108  # only a name
    ],
)
def test_a_librarys_path_loses_its_folder(path: str, short: str, seen: str, of: Optional[str]) -> None:
    assert (short_file(path), shown_file(path), package(path)) == (short, seen, of)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (Frame("f", "/a/b/c.py", 3), "b/c.py:3"),
        (Frame("f", "c.py"), "c.py"),
        (Frame("f", "x.c", 3, module="/usr/lib/libpython3.8.so.1.0"), "libpython3.8"),
        (Frame("f", module="/usr/lib/libc.so.6"), "libc.so.6"),
        (Frame("f", address=255), "0xff"),
        (Frame("f"), ""),
    ],
)
def test_a_frames_place_is_what_is_known_of_it(frame: Frame, expected: str) -> None:
    assert place(frame) == expected


@given(st.text())
def test_nothing_printable_moves_the_cursor(text: str) -> None:
    assert printable(text).isprintable()

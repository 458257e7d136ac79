"""Paths and names, made short and safe for the eye.

In goes what a tool printed: the path of a source file or a library, a function's name. Out comes what is shown. No file
is looked at: whether a path belongs to a library is told from its words alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from forkhang_ipy.model import Frame

LIBRARY = re.compile(
    r"^.*?[\\/](?:(?:lib|lib64)[\\/]python3(?:\.\d+)?t?|python3\d+[\\/]lib)[\\/](?:(?:site|dist)-packages[\\/])?"
    r"|^.*[\\/](?:site|dist)-packages[\\/]",
    re.IGNORECASE,
)
FROZEN = re.compile(r"<frozen ([\w.]+)>")
SHORT_LIBRARY = re.compile(
    r"(?:asyncio|concurrent|ctypes|importlib|json|logging|multiprocessing|socketserver|unittest|xml)/"
    r"|(?:bdb|contextlib|functools|pickle|queue|runpy|selectors|shutil|socket|ssl|subprocess|tempfile|threading|weakref)\.py$"
)
LIBPYTHON = re.compile(r"(libpython\d+\.\d+\w*)\.so.*")


def short_file(path: Optional[str]) -> Optional[str]:
    """The path without the folder that the library stands in; a path of the user's own is kept whole."""
    if path is None:
        return None
    return LIBRARY.sub("", path, count=1).replace("\\", "/") if LIBRARY.match(path) else path


def shown_file(path: str) -> str:
    """The path as a library's users know it; of a path of the user's own the last two parts."""
    if LIBRARY.match(path):
        return str(short_file(path))
    return "/".join([part for part in re.split(r"[\\/]", path) if part][-2:]) or path


def package(path: Optional[str]) -> Optional[str]:
    """The library's package that a source file belongs to; None for the user's own files and where there is no path."""
    frozen = FROZEN.match(path or "")
    if frozen:
        return frozen.group(1).split(".")[0]
    if path is None or not (LIBRARY.match(path) or SHORT_LIBRARY.match(path)):
        return None
    return str(short_file(path)).split("/")[0].split(".py")[0]


def shown_module(path: str) -> str:
    """The library's file name; of libpython without its tail."""
    name = re.split(r"[\\/]", path)[-1] or path
    return LIBPYTHON.sub(r"\1", name)


def place(frame: Frame) -> str:
    """Where the frame stands: file and line, else its library, else its address, else nothing."""
    if frame.module is not None:
        return shown_module(frame.module)
    if frame.file is not None:
        return shown_file(frame.file) + (f":{frame.line}" if frame.line is not None else "")
    return f"0x{frame.address:x}" if frame.address is not None else ""


def printable(text: str) -> str:
    """The text in one line, with what would move the cursor or hide a letter spelt out, as Python would."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def printable_lines(text: str) -> str:
    """The same for a text of several lines, which stay lines."""
    return "\n".join(printable(line) for line in text.expandtabs(4).split("\n"))

"""One call as gdb prints it, and the wait that the arguments of the innermost calls tell.

    #0  futex_wait (private=0, expected=2, futex_word=0x7f00dd001060 <m>) at ../sysdeps/nptl/futex-internal.h:146
    #1  0x00007f00dd00015c in atfork_child () from /w/libext.so
    #2  PyEval_EvalFrameEx (f=Frame 0x81b5520, for file /w/db.py, line 421, in rollback (self=<...>), throwflag=0)
    #3  <signal handler called>
    #4  0x000055aa00000000 in ?? ()

Inlined calls have no address. A long call is wrapped over several lines; the caller puts them together.
"""

from __future__ import annotations

import re
from typing import Iterable, Iterator, Optional, Sequence

from forkhang_ipy.model import Frame, Told, Wait, WaitKind

ADDRESS = re.compile(r"^(?P<address>0x[0-9a-f]+) in ")
# gdb puts a space before the arguments; people who retype a stack often leave it out.
RETYPED = re.compile(r"^(?P<function>[^(\s]+)\((?P<arguments>.*)$")
NAKED = re.compile(r"^(?P<function><signal handler called>|\?\?|[\w:~<>.$@]+)(?: from (?P<module>\S+))?$")
TOKEN = re.compile(r"operator(?:<<|>>|<=>|<=|>=|->|<|>)|->|<|>| \(")
"""What brackets a C++ name: the arguments begin at the first ` (` that stands in none."""
PLACE = re.compile(r"\)(?: at (?P<file>[^\s:]+)(?::(?P<line>\d+))?)?(?: from (?P<module>\S+))?$")
PYTHON = re.compile(
    r"Frame (?P<frame>0x[0-9a-f]+), for file (?P<file>.+?), line (?P<line>\d+), in (?P<function>\S+) \("
)
FUTEX = re.compile(r"\b(?:futex_word|futex|sem)=(?:\w+@entry=)?(?P<address>0x[0-9a-f]+)")
FUTEX_CALL = re.compile(r"^_*(?:GI_)?_*(?:futex_\w+|lll_lock_wait\w*|do_futex_wait\w*|new_sem_wait_slow\w*)")
EXPECTED = re.compile(r"\bexpected=(?P<value>\d+)")
PRIVATE = re.compile(r"\bprivate=(?P<value>0|128)\b")
OPERATION = re.compile(r"\bop=(?P<value>\d+)\b")
LIMIT = re.compile(r"\babstime=(?:\w+@entry=)?(?P<value>0x[0-9a-f]+)")
CHILD = re.compile(r"\bpid=(?:pid@entry=)?(?P<pid>\d+)\b")
CHILD_CALL = re.compile(r"^_*(?:GI_)?_*(?:wait4|waitpid)\b")
NEAR = 5
"""The arguments of a wait stand in this many innermost frames."""


def frame(text: str) -> Optional[Frame]:
    """The call behind `#3`; None where it is none."""
    address = ADDRESS.match(text)
    call = text[address.end() :] if address else text
    naked = NAKED.match(call)
    named = (naked["function"], naked["module"]) if naked else None
    function = named[0] if named else _function(call)
    if function is None:
        return None
    place = None if named else PLACE.search(call)
    return Frame(
        function=None if function == "??" else function,
        file=place["file"] if place else None,
        line=int(place["line"]) if place and place["line"] else None,
        module=place["module"] if place else named and named[1],
        address=int(address["address"], 16) if address else None,
    )


def _function(call: str) -> Optional[str]:
    depth = 0
    for token in TOKEN.finditer(call):
        if token.group() == " (" and not depth:
            return call[: token.start()] or None
        depth += {"<": 1, ">": -1}.get(token.group(), 0)
    retyped = RETYPED.match(call)
    return retyped["function"] if retyped else None


def python_frames(texts: Iterable[str]) -> Iterator[Frame]:
    """The Python calls that a debug build's arguments show, each once."""
    last = None
    for text in texts:
        match = PYTHON.search(text)
        if match and match["frame"] != last:
            last = match["frame"]
            yield Frame(match["function"], match["file"], int(match["line"]))


def wait(texts: Sequence[str]) -> Optional[Wait]:
    """The futex or the child that the arguments of the innermost calls tell, where gdb had glibc's symbols."""
    near = [_after_address(text) for text in texts[:NEAR]]
    return _child(near) or _futex(near)


def _after_address(text: str) -> str:
    return text.split(" in ", 1)[1] if text.startswith("0x") and " in " in text else text


def _child(near: Sequence[str]) -> Optional[Wait]:
    pid = next((match for text in near[:2] if CHILD_CALL.match(text) for match in [CHILD.search(text)] if match), None)
    return Wait(WaitKind.CHILD, Told.STACK, call="wait4", target=int(pid["pid"])) if pid else None


def _futex(near: Sequence[str]) -> Optional[Wait]:
    calls = [text for text in near if FUTEX_CALL.match(text)]
    word = _first(FUTEX, calls[:3])
    if not word:
        return None
    expected, limit = _first(EXPECTED, calls), _first(LIMIT, near)
    return Wait(
        WaitKind.LOCK,
        Told.STACK,
        call="futex",
        address=int(word["address"], 16),
        value=int(expected["value"]) if expected else None,
        private=_private(calls),
        timeout=int(limit["value"], 16) != 0 if limit else None,
    )


def _private(calls: Sequence[str]) -> Optional[bool]:
    """Glibc's own argument says 0 for private and 128 for shared; the kernel's operation has a bit for private."""
    said, operation = _first(PRIVATE, calls), _first(OPERATION, calls)
    if said:
        return said["value"] == "0"
    return bool(int(operation["value"]) & FUTEX_PRIVATE) if operation else None


def _first(pattern: re.Pattern[str], texts: Sequence[str]) -> Optional[re.Match[str]]:
    return next((match for match in map(pattern.search, texts) if match), None)


FUTEX_PRIVATE = 0x80

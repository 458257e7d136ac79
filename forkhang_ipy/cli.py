"""The command `forkhang`: the same verbs as in a notebook, in a terminal.

Exit status: 0 an answer was given, 1 it could not look (the reason and a way out are on stderr), 2 usage.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Dict, Optional, Sequence, Union

from forkhang_ipy.errors import ForkhangError

if TYPE_CHECKING:
    from forkhang_ipy.api import Report
    from forkhang_ipy.capture.records import Options

ANSWERED, COULD_NOT_LOOK = 0, 1
WIDEST = 140
"""Columns; wider lines are hard to read."""
DESCRIPTION = "Tell whether a hung Python program is a fork deadlock, prove it, and say what cures it."
CANNOT_PROMISE = """\
Not replaced: functions, names of files and folders, values of variables and words of a command line that look like no
name and no secret, bytes of memory at locks, and the file's own name. Read it before you share it."""
Arguments = Optional[Sequence[str]]


def main(arguments: Arguments = None) -> int:
    """Run the command and give its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    verb = VERBS.get(words[0]) if words else None
    try:
        return verb.run(words[1:]) if verb else _diagnose(words)
    except ForkhangError as error:
        print(f"forkhang: {error.fact}\n{error.hint}", file=sys.stderr)
    except KeyboardInterrupt:
        print("forkhang: interrupted. What was looked at runs on as before.", file=sys.stderr)
    except BrokenPipeError:
        # Whoever read our output has seen enough; nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return COULD_NOT_LOOK


def parser(program: str = "forkhang") -> argparse.ArgumentParser:
    """The options of a diagnosis, for the command and for the magic."""
    options = argparse.ArgumentParser(
        prog=program,
        description=DESCRIPTION,
        epilog="\n".join(["other verbs:", *(f"  forkhang {name:<10}{verb.says}" for name, verb in VERBS.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument(
        "targets",
        nargs="+",
        type=_named,
        metavar="TARGET",
        help="a pid, or files, folders or globs of one hang; - is standard input",
    )
    options.add_argument("--json", action="store_true", help="print one JSON document (schema forkhang/1)")
    options.add_argument("--save", metavar="FILE", help="also write what was seen, to open it again later")
    _add_capture_options(options)
    return options


def target(word: str) -> Union[int, str]:
    """A pid as a number; anything else is the name of a file."""
    return int(word) if word.isdecimal() else word


# --- diagnose --------------------------------------------------------------------------------------------------------


def _diagnose(words: Sequence[str]) -> int:
    chosen = parser().parse_args(words)
    from forkhang_ipy import api  # --help is quick

    report = api.diagnose(*map(target, chosen.targets), options=capture_options(chosen))
    if chosen.save:
        report.save(chosen.save)
    _show(report, as_json=chosen.json)
    return ANSWERED


def _show(report: Report, *, as_json: bool = False) -> None:
    if as_json:
        print(json.dumps(report.to_json(), indent=1, ensure_ascii=False))
        return
    width = min(shutil.get_terminal_size((100, 40)).columns, WIDEST)
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    print(report.to_text(width=width, colour=colour))


def _add_capture_options(options: argparse.ArgumentParser) -> None:
    options.add_argument("--no-native", action="store_true", help="take no native stacks")
    options.add_argument("--locals", action="store_true", help="take local variables too")
    options.add_argument("--samples", type=_count, default=2, metavar="N", help="how many looks (default %(default)s)")
    options.add_argument(
        "--interval", type=_seconds, default=0.5, metavar="S", help="seconds between two looks (default %(default)s)"
    )
    options.add_argument(
        "--timeout", type=_seconds, default=10.0, metavar="S", help="seconds for each source (default %(default)s)"
    )


def capture_options(chosen: argparse.Namespace) -> Options:
    """The options of a capture, from the words of a command line."""
    from forkhang_ipy.capture.records import Options

    return Options(
        native=not chosen.no_native,
        locals=chosen.locals,
        samples=chosen.samples,
        interval=chosen.interval,
        timeout=chosen.timeout,
    )


def _named(word: str) -> str:
    if not word.strip():
        raise argparse.ArgumentTypeError("an empty word names no pid and no file")
    return word


def _count(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word} is not a whole number of at least 1")
    return int(word)


def _seconds(word: str) -> float:
    try:
        seconds = float(word)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{word} is not a number of seconds above 0")
    return seconds


# --- capture ---------------------------------------------------------------------------------------------------------


def _capture(words: Sequence[str]) -> int:
    options = argparse.ArgumentParser(
        prog="forkhang capture", description="Only take what is seen, to look at it later."
    )
    options.add_argument("pid", type=_count, metavar="PID")
    options.add_argument("-o", "--output", required=True, metavar="FILE")
    _add_capture_options(options)
    chosen = options.parse_args(words)
    from forkhang_ipy import api
    from forkhang_ipy.capture.records import records

    api.save(records(chosen.pid, capture_options(chosen)), chosen.output)
    print(f"{chosen.output} is written. Open it with: forkhang {chosen.output}")
    return ANSWERED


# --- redact ----------------------------------------------------------------------------------------------------------


def _redact(words: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="forkhang redact", description=VERBS["redact"].says)
    options.add_argument("file", metavar="FILE", help="a saved dump; - is standard input")
    options.add_argument("-o", "--output", required=True, metavar="FILE")
    chosen = options.parse_args(words)
    from forkhang_ipy import api

    done = api.redact(chosen.file, chosen.output)
    said = ", ".join(f"{kind}: {count}" for kind, count in done.replaced) or "nothing"
    print(f"{chosen.output} is written. Replaced, each by the same stand-in everywhere: {said}.", file=sys.stderr)
    if not done.same:
        print("The diagnosis is no longer the same: a name was also a word of the program.", file=sys.stderr)
    print(CANNOT_PROMISE, file=sys.stderr)
    return ANSWERED


# --- demo ------------------------------------------------------------------------------------------------------------


def _demo(words: Sequence[str]) -> int:
    argparse.ArgumentParser(prog="forkhang demo", description=VERBS["demo"].says).parse_args(words)
    from forkhang_ipy import api, demo

    print("Starting a training script that will hang (this may take a minute) ...", flush=True)
    with demo.hanging() as hang:
        print(f"Process {hang.pid} and its worker {hang.child} hang now: {hang.what}.\n", flush=True)
        print(f"$ forkhang {hang.pid}\n", flush=True)
        _show(api.diagnose(hang.pid))
    print(f"Both processes are ended: {hang.pid}, {hang.child}.")
    return ANSWERED


@dataclass(frozen=True)
class Verb:
    """A verb of the command line other than to diagnose."""

    says: str
    run: Callable[[Sequence[str]], int]


VERBS: Dict[str, Verb] = {
    "demo": Verb("start a real hang, diagnose it, end it", _demo),
    "redact": Verb("replace names of people and machines, addresses and secrets in a saved dump", _redact),
    "capture": Verb("only take what is seen, on the machine that hangs", _capture),
}

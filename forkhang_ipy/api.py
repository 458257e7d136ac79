"""The verbs: take records of a process or read them from files, join them, diagnose them.

The only module that knows both the world (processes, files) and the core (formats, analysis).
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Iterable, List, Sequence, Tuple, Union

from forkhang_ipy import formats
from forkhang_ipy.analysis import changes, tree
from forkhang_ipy.analysis import groups as grouping
from forkhang_ipy.analysis.islands import diagnose as analyse
from forkhang_ipy.analysis.matching import says_something
from forkhang_ipy.capture import files
from forkhang_ipy.capture.records import Options, records
from forkhang_ipy.cure import with_cure
from forkhang_ipy.errors import DumpError, EmptyDump, FileUnreadable, UnknownDump
from forkhang_ipy.formats import bundle, capture, file, redaction
from forkhang_ipy.model import Branch, Diagnosis, Dump, Gap, Group

if TYPE_CHECKING:
    import pandas as pd

TAKE_ONE = "Take a dump with `forkhang PID --save hang.forkhang`, or with py-spy or gdb."
Target = Union[int, str, Path]
Text = Union[str, Path]
CROWD = 8
"""With more processes than these, what many of them have in common is shown first."""


@dataclass(frozen=True)
class Report(Diagnosis):
    """A diagnosis that shows itself, and the records that it rests on."""

    records: Tuple[str, ...] = field(default=(), repr=False)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """What IPython shows: HTML in a notebook, plain text in a terminal."""
        del include, exclude
        return {"text/html": self.to_html(), "text/plain": self.to_text()}

    def __str__(self) -> str:
        return self.to_text()

    def to_html(self) -> str:
        """One self-contained piece of HTML."""
        from forkhang_ipy.views.html import html  # views are heavy

        return html(self, *self._crowd())

    def to_text(self, *, width: int = 100, colour: bool = False) -> str:
        """The same for a terminal of this many columns; without colour it is plain text."""
        from forkhang_ipy.views.text import text  # rich is heavy

        return text(self, *self._crowd(), width=width, colour=colour)

    def to_json(self) -> dict[str, object]:
        """The document of `--json`, schema `forkhang/1`."""
        from forkhang_ipy.views.payload import payload

        return payload(self)

    def save(self, path: Union[str, Path]) -> None:
        """Write the records as a bundle, which `forkhang FILE` opens again."""
        save(self.records, path)

    # --- to ask it questions ---

    @property
    def processes(self) -> pd.DataFrame:
        """One row a process; the columns are listed in `forkhang_ipy.views.tables`."""
        from forkhang_ipy.views import tables  # pandas is heavy

        return tables.processes(self)

    @property
    def threads(self) -> pd.DataFrame:
        """One row a thread, with the innermost frame."""
        from forkhang_ipy.views import tables

        return tables.threads(self)

    @property
    def frames(self) -> pd.DataFrame:
        """One row a frame, depth 0 is the innermost."""
        from forkhang_ipy.views import tables

        return tables.frames(self)

    @property
    def waits(self) -> pd.DataFrame:
        """One row for each thread of which is known what it waits for."""
        from forkhang_ipy.views import tables

        return tables.waits(self)

    def groups(self, *, native: bool = False) -> pd.DataFrame:
        """Identical stacks together: how many, which ranks, which are the odd ones out; `native`: both stacks."""
        from forkhang_ipy.views import tables

        return tables.groups(grouping.groups(self.dump, native=native))

    def tree(self) -> Tree:
        """The prefix tree of the stacks, outermost calls first, with the ranks of each branch."""
        root = tree.tree(self.dump)
        return Tree(**{each.name: getattr(root, each.name) for each in fields(root)})

    def diff(self, other: Diagnosis) -> pd.DataFrame:
        """What moved from this one to the other, thread by thread."""
        from forkhang_ipy.views import tables

        return tables.changes(changes.changes(self.dump, other.dump))

    def _crowd(self) -> Tuple[Sequence[Group], Sequence[Branch]]:
        with_stacks = {at for (at, _), _ in grouping.live_threads(self.dump)}
        if len(with_stacks) <= CROWD:
            return (), ()
        return grouping.groups(self.dump), (tree.tree(self.dump),)


@dataclass(frozen=True)
class Redaction:
    """What was replaced in a file."""

    replaced: Tuple[Tuple[str, int], ...]
    """How many different things of each kind."""
    same: bool
    """The redacted file has the same diagnosis, the same functions and lines."""


@dataclass(frozen=True)
class Tree(Branch):
    """A prefix tree that shows itself."""

    def __str__(self) -> str:
        from forkhang_ipy.views.crowd import tree_lines

        return "\n".join(tree_lines(self))

    def _repr_pretty_(self, printer: object, cycle: object) -> None:
        """What IPython shows."""
        del cycle
        getattr(printer, "text")(str(self))  # noqa: B009 IPython's printer, which we do not import


def diagnose(*targets: Target, options: Options = Options()) -> Report:  # noqa: B008 frozen
    """The diagnosis of a live process (a pid), or of files that describe one hang together.

    A path may be a folder or a glob, which stand for many files; `-` is standard input. Raises TargetError for a pid
    that cannot be looked at, DumpError where no file is a dump.
    """
    taken: List[str] = []
    seen: List[Dump] = []
    for pid in [target for target in targets if isinstance(target, int)]:
        taken.extend(records(pid, options))
    seen.extend(formats.parts(*taken))
    _add_files([target for target in targets if not isinstance(target, int)], taken, seen)
    found = with_cure(analyse(formats.join(seen)))
    return Report(**{each.name: getattr(found, each.name) for each in fields(found)}, records=tuple(taken))


def read(*paths: Text) -> Report:
    """What these files say of one hang, joined, and what it means. Raises DumpError."""
    return diagnose(*map(str, paths))


def redact(path: Text, output: Text) -> Redaction:
    """Write the file without names and secrets; a bundle stays a bundle, any other file becomes plain text.

    Raises DumpError for a file that is no dump, and where the output cannot be written.
    """
    before = read(path)
    done = redaction.redact(before.records, keep=redaction.words(before.dump))
    found = analyse(formats.parse(*done.texts))
    if any(map(_is_ours, done.texts)):
        save(done.texts, output)
    else:
        _write("\n".join(done.texts).encode(), output)
    return Redaction(done.replaced, same=_says(found) == _says(before))


def save(taken: Iterable[str], path: Union[str, Path]) -> None:
    """Write records as a bundle. Raises FileUnreadable where the path cannot be written."""
    # No clock in the file: the same records are the same bytes.
    _write(gzip.compress(bundle.pack(tuple(taken)).encode(), mtime=0), path)


def _write(content: bytes, path: Text) -> None:
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise FileUnreadable(f"{path} cannot be written: {error.strerror}.", "Choose another file.") from error


def _is_ours(text: str) -> bool:
    return any(form.recognises(text) for form in formats.RECORDS) or file.is_file(text)


def _says(found: Diagnosis) -> Tuple[object, ...]:
    """What must be the same in a file that was redacted."""
    findings = [(one.signature, one.confidence, one.process, one.frames) for one in found.findings]
    calls = [
        [(frame.function, frame.line) for frame in thread.python + thread.native]
        for process in found.dump.processes
        for thread in process.threads
    ]
    return found.verdict, found.confidence, findings, calls


# --- files -----------------------------------------------------------------------------------------------------------


def _add_files(targets: Sequence[Text], taken: List[str], seen: List[Dump]) -> None:
    """Add the records of each file and what they say. A file among others that is no dump becomes a gap."""
    places = list(dict.fromkeys(place for target in targets for place in files.places(target)))
    refused: List[DumpError] = []
    for place in places:
        try:
            found = _records(files.text(place), place, named=len(places) > 1)
            said = _said(found, place)
        except DumpError as error:
            refused.append(error)
            continue
        if not any(dump.processes or says_something(dump) for dump in said):
            refused.append(_no_stack(place))
        taken.extend(found)
        seen.extend(said)
    if places and not any(map(_has_stack, seen)):
        raise next(iter(refused), _no_stack(places[0]))
    if refused:
        taken.append(capture.write([_gap(error) for error in refused]))
        seen.extend(formats.parts(taken[-1]))


def _records(text: str, place: files.Place, *, named: bool) -> Tuple[str, ...]:
    """The records that stand in a file; the file's name goes with them where it tells something."""
    if not text.strip():
        raise EmptyDump(f"{place.name} is empty.", TAKE_ONE)
    head = (file.write(_name(place)),) if named or file.tells(_name(place)) else ()
    try:
        return (*head, *(bundle.unpack(text) if bundle.is_bundle(text) else (text,)))
    except (ValueError, KeyError, TypeError) as error:
        raise _torn(place) from error


def _said(found: Sequence[str], place: files.Place) -> List[Dump]:
    try:
        return formats.parts(*found)
    except (ValueError, KeyError, TypeError) as error:
        raise _torn(place) from error


def _has_stack(dump: Dump) -> bool:
    return any(process.threads or process.ended for process in dump.processes) or says_something(dump)


def _no_stack(place: files.Place) -> UnknownDump:
    looked_for = ", ".join(form.name for form in formats.FORMATS if not form.name.endswith("record"))
    return UnknownDump(f"No stack was found in {place.name}; looked for: {looked_for}, our own bundle.", TAKE_ONE)


def _torn(place: files.Place) -> UnknownDump:
    fact = f"{place.name} is a torn bundle, or one of a later version."
    return UnknownDump(fact, "Take it again, or upgrade forkhang_ipy.")


def _name(place: files.Place) -> str:
    """The file's name and its folder's: one of them may say rank and host."""
    return "/".join(Path(place.path).parts[-2:])


def _gap(error: DumpError) -> Gap:
    return Gap(process=None, what="a file", why=error.fact, hint=error.hint)

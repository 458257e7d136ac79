"""The verbs: take records of a process or read them from files, join them, diagnose them.

The only module that knows both the world (processes, files) and the core (formats, analysis).
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Iterable, Tuple, Union

from forkhang_ipy import formats
from forkhang_ipy.analysis.diagnose import diagnose as analyse
from forkhang_ipy.capture.records import Options, records
from forkhang_ipy.cure import with_cure
from forkhang_ipy.errors import EmptyDump, FileUnreadable, UnknownDump
from forkhang_ipy.formats import bundle
from forkhang_ipy.model import Diagnosis, Dump

GZIP = b"\x1f\x8b"
TAKE_ONE = "Take a dump with `forkhang PID --save hang.forkhang`, or with py-spy or gdb."
Target = Union[int, str, Path]


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

        return html(self)

    def to_text(self, *, width: int = 100, colour: bool = False) -> str:
        """The same for a terminal of this many columns; without colour it is plain text."""
        from forkhang_ipy.views.text import text  # rich is heavy

        return text(self, width=width, colour=colour)

    def to_json(self) -> dict[str, object]:
        """The document of `--json`, schema `forkhang/1`."""
        from forkhang_ipy.views.payload import payload

        return payload(self)

    def save(self, path: Union[str, Path]) -> None:
        """Write the records as a bundle, which `forkhang FILE` opens again."""
        save(self.records, path)


def diagnose(*targets: Target, options: Options = Options()) -> Report:  # noqa: B008 frozen
    """The diagnosis of a live process (a pid), or of files that describe one hang together.

    Raises TargetError for a pid that cannot be looked at, DumpError for a file that is no dump.
    """
    taken = tuple(record for target in targets for record in _records(target, options))
    found = with_cure(analyse(formats.parse(*taken)))
    return Report(**{each.name: getattr(found, each.name) for each in fields(found)}, records=taken)


def read(*paths: Union[str, Path]) -> Dump:
    """What these files say of one hang, joined. Raises DumpError."""
    return formats.parse(*(record for path in paths for record in _from_file(Path(path))))


def save(taken: Iterable[str], path: Union[str, Path]) -> None:
    """Write records as a bundle. Raises FileUnreadable where the path cannot be written."""
    try:
        # No clock in the file: the same records are the same bytes.
        Path(path).write_bytes(gzip.compress(bundle.pack(tuple(taken)).encode(), mtime=0))
    except OSError as error:
        raise FileUnreadable(f"{path} cannot be written: {error.strerror}.", "Choose another file.") from error


def _records(target: Target, options: Options) -> Tuple[str, ...]:
    if isinstance(target, int):
        return records(target, options)
    return _from_file(Path(target))


def _from_file(path: Path) -> Tuple[str, ...]:
    text = _text(path)
    if not text.strip():
        raise EmptyDump(f"{path} is empty.", TAKE_ONE)
    try:
        found = bundle.unpack(text) if bundle.is_bundle(text) else (text,)
        dump = formats.parse(*found)
    except (ValueError, KeyError, TypeError) as error:
        raise UnknownDump(
            f"{path} is a torn bundle, or one of a later version.", "Take it again, or upgrade forkhang_ipy."
        ) from error
    if not any(process.threads or process.ended for process in dump.processes):
        looked_for = ", ".join(form.name for form in formats.FORMATS if not form.name.endswith("record"))
        raise UnknownDump(f"No stack was found in {path}; looked for: {looked_for}, our own bundle.", TAKE_ONE)
    return found


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
        if content.startswith(GZIP):
            content = gzip.decompress(content)
    except FileNotFoundError as error:
        raise FileUnreadable(f"There is no file {path}.", "Give a pid, or the path of a saved dump.") from error
    except (OSError, EOFError) as error:
        fact = error.strerror if isinstance(error, OSError) and error.strerror else "it is a torn archive"
        raise FileUnreadable(f"{path} cannot be read: {fact}.", "Give a pid, or the path of a saved dump.") from error
    return content.decode("utf-8", "replace")

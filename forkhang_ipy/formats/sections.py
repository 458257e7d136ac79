"""A text that holds several dumps, in several formats, with noise in between, becomes one partial dump a section.

Each line is read by one section, is a heading that tells whose a section is, or is given back as unread. A section
that tells no process of its own belongs to the process of the heading above it. Sections of one tool that only noise
parts, with different threads, are of one process; any others without a number stay apart until their threads join them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Generator, Iterator, List, Optional, Sequence, Set, Tuple

from forkhang_ipy.formats import ranks
from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.formats.cleaning import Channel, channels, plain, without_colours
from forkhang_ipy.formats.interned import Interned
from forkhang_ipy.formats.whose import Whose, whose
from forkhang_ipy.model import Dump, Process, Thread


def read(text: str, formats: Sequence[SectionFormat]) -> List[Dump]:
    """What each section of this text says, and one more dump with the lines that no section has read."""
    dumps: List[Dump] = []
    unread: List[int] = []
    text = without_colours(text)
    interned = Interned()
    for channel in channels(text):
        reader = _Reader(channel, formats)
        origin = ranks.of_label(channel.label)
        dumps.extend(ranks.stamped(interned.dump(dump), origin) for dump in reader.sections())
        unread.extend(channel.lines.places[at] for at in reader.lines.unread)
    if not unread:
        return dumps
    left = frozenset(unread)
    return [*dumps, Dump(unread=tuple(line for place, line in enumerate(plain(text)) if place in left))]


class _Reader:
    """One pass over one channel."""

    def __init__(self, channel: Channel, formats: Sequence[SectionFormat]) -> None:
        self.lines = Lines(channel.lines, self._known)
        self._formats = formats
        self._whose = Whose(pid=channel.pid, label=channel.label)
        self._tool: Optional[str] = None
        """The tool that told the process itself: its number is for sections of this tool alone."""
        self._heading: Optional[int] = None
        """Where the heading stands that no section has followed yet."""
        self._open: Optional[Tuple[str, Process]] = None
        """The tool and the process without a number that the next section may go on with."""

    def sections(self) -> Iterator[Dump]:
        """The sections, in order."""
        while self.lines:
            if not self.lines.next:
                self.lines.step()
            elif not (yield from self._section()):
                self._other()
        yield from self._closed()
        self._forget_heading()

    def _known(self, line: str) -> bool:
        return any(form.begins.match(line) for form in self._formats) or whose(line) is not None

    def _section(self) -> Generator[Dump, None, bool]:
        line = self.lines.next
        for form in self._formats:
            section = form.read(self.lines) if form.begins.match(line) else None
            if section is not None:
                self._heading = None
                yield from self._owned(section, form)
                return True
        return False

    def _other(self) -> None:
        """The next line is a heading, or nobody can read it."""
        said = whose(self.lines.next)
        if said is None:
            self.lines.skip()
            return
        self._forget_heading()
        self._heading = self.lines.at
        self._whose = said
        self._tool = None
        self._open = self._open and ("", self._open[1])
        self.lines.step()

    def _forget_heading(self) -> None:
        """A person's heading that no section followed is a line like any other; a command is read."""
        if self._heading is not None and self._whose.label:
            self.lines.unread.append(self._heading)
        self._heading = None

    # --- whose ---

    def _owned(self, section: Dump, form: SectionFormat) -> Iterator[Dump]:
        known = tuple(process for process in section.processes if process.pid is not None)
        unknown = tuple(process for process in section.processes if process.pid is None)
        if len(known) == 1 and known[0].pid != self._whose.pid:
            self._whose, self._tool = Whose(pid=known[0].pid), form.name
        applies = self._tool == form.name or (self._tool is None and (form.attaches or self._whose.label))
        for process in unknown:
            yield from self._continued(_of(process, self._whose, form) if applies else process, form.name)
        yield replace(section, processes=known)

    def _continued(self, process: Process, tool: str) -> Iterator[Dump]:
        """Keep a process without a number back: the next section may go on with it."""
        if self._open and self._open[0] == tool and process.pid is None and _goes_on(self._open[1], process):
            process = replace(self._open[1], threads=self._open[1].threads + process.threads)
        else:
            yield from self._closed()
        self._open = (tool, process)

    def _closed(self) -> Iterator[Dump]:
        if self._open:
            yield Dump(processes=(self._open[1],))
        self._open = None


def _of(process: Process, whose: Whose, form: SectionFormat) -> Process:
    """The process under the number and the name that stand above it."""
    threads = process.threads
    if len(threads) == 1:
        threads = (_alone(threads[0], whose, form),)
    label = process.label or whose.label
    origin = ranks.of_label(label)
    return replace(
        process,
        pid=whose.pid,
        threads=threads,
        label=label,
        rank=origin.rank,
        host=origin.host,
        live_tasks=process.live_tasks if process.live_tasks is not None else whose.live_tasks,
    )


def _alone(thread: Thread, whose: Whose, form: SectionFormat) -> Thread:
    """The only thread of a section, with the number and the name that stand above it."""
    numbered = thread.tid is not None or thread.ident is not None
    tid = (whose.tid or whose.pid) if form.one_thread and not numbered else thread.tid
    return replace(thread, tid=tid, name=thread.name or whose.thread)


def _goes_on(process: Process, more: Process) -> bool:
    """All threads have numbers, and no number comes twice."""
    seen: Set[Tuple[Optional[int], Optional[int]]] = {(None, None)}
    for thread in process.threads + more.threads:
        key = (thread.ident, thread.tid)
        if key in seen:
            return False
        seen.add(key)
    return True

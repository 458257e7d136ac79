"""Texts of dumps in; the same texts without the names of people, machines and secrets out, and what was replaced.

    $ alice@gpu-7:~$ py-spy dump --pid 17                  $ user1@host1:~$ py-spy dump --pid 17
    Process 17: python /home/alice/x.py --token hf_abc     Process 17: python /home/user1/x.py --token secret1

The same thing gets the same stand-in in all texts. What a diagnosis needs stays: pids, functions, the tails of file
names, addresses of memory. What does not look like a name or a secret cannot be known for one, and stays as well. No
file is opened.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Callable, Collection, Dict, FrozenSet, List, Mapping, Sequence, Set, Tuple

from forkhang_ipy.formats.redaction_rules import HIDDEN_VALUE, KINDS, RULES, SECRET_NAME, SECRET_OPTION, Rule
from forkhang_ipy.model import Dump, Frame

SHORTEST = 4
"""Letters: a shorter name is replaced only where it stands as a name, for it may be part of any word."""
MOST_LINES = 200_000
"""Lines that are remembered."""
OVER_LINES = [rule for rule in RULES if rule.over_lines]
IN_LINES = [rule for rule in RULES if not rule.over_lines]
RECORD = re.compile(r"^\s*[\[{]")


@dataclass(frozen=True)
class Redacted:
    """Texts that can be shared, and how many different things of each kind have a stand-in."""

    texts: Tuple[str, ...]
    replaced: Tuple[Tuple[str, int], ...]


def redact(texts: Sequence[str], keep: Collection[str] = ()) -> Redacted:
    """The texts with stand-ins. `keep` are words of the program: never replaced but where they stand as a name."""
    stand_ins = _StandIns(texts, keep)
    found = [_each_string(text, stand_ins.in_places) for text in texts]
    names = stand_ins.everywhere()
    return Redacted(tuple(_each_string(text, names) for text in found), stand_ins.counts())


def words(dump: Dump) -> FrozenSet[str]:
    """The words of the program in a dump: functions, names of files and threads."""
    threads = [thread for process in dump.processes for thread in process.threads]
    frames = {frame for thread in threads for frame in thread.python + thread.native}
    names = {name for frame in frames for name in (frame.function, *_tails(frame)) if name}
    names |= {thread.name for thread in threads if thread.name}
    return frozenset(word for name in names for word in re.split(r"[^\w-]+", name))


def _tails(frame: Frame) -> Tuple[str, ...]:
    return tuple(re.split(r"[\\/]", path)[-1] for path in (frame.file, frame.module) if path)


class _StandIns:
    """What stands for what, the same in all texts."""

    def __init__(self, texts: Sequence[str], keep: Collection[str]) -> None:
        self._texts = texts
        self._keep: FrozenSet[str] = frozenset(keep)
        self._known: Dict[str, Dict[str, str]] = {kind: {} for kind in KINDS}
        self._made: Set[str] = set()
        self._lines: Dict[str, str] = {}
        """What became of each line."""

    def in_places(self, text: str) -> str:
        """The text with a stand-in at each place where a rule finds something."""
        text = self._ruled(OVER_LINES, text)
        return "".join(map(self._line, text.splitlines(keepends=True)))

    def _line(self, line: str) -> str:
        """One line; most lines of a dump come again and again."""
        known = self._lines.get(line)
        if known is None:
            known = self._ruled(IN_LINES, line)
            if len(self._lines) < MOST_LINES:
                self._lines[line] = known
        return known

    def _ruled(self, rules: Sequence[Rule], text: str) -> str:
        for rule in rules:
            if not rule.needs or any(mark in text for mark in rule.needs):
                text = rule.pattern.sub(self._filling(rule), text)
        return text

    def everywhere(self) -> Callable[[str], str]:
        """What replaces the names that were found, wherever else they stand as a word."""
        names: Dict[str, str] = {}
        for kind in KINDS:
            names.update({name: to for name, to in self._known[kind].items() if self._is_telling(name)})
        if not names:
            return str
        longest_first = sorted(names, key=len, reverse=True)
        pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, longest_first))})(?![A-Za-z0-9])")
        return lambda text: pattern.sub(lambda match: names[match.group()], text)

    def counts(self) -> Tuple[Tuple[str, int], ...]:
        """How many different things of each kind were found."""
        return tuple((kind, len(known)) for kind, known in self._known.items() if known)

    def _filling(self, rule: Rule) -> Callable[[re.Match[str]], str]:
        return lambda match: self._filled(rule, match)

    def _filled(self, rule: Rule, match: re.Match[str]) -> str:
        """The match with a stand-in for each group that a kind is the name of."""
        text, start = match.group(), match.start()
        spans = sorted((match.span(kind), kind) for kind in rule.pattern.groupindex if kind in KINDS)
        for (begin, end), kind in reversed([span for span in spans if span[0][0] >= 0]):
            name = match.string[begin:end]
            if name and name not in rule.but:
                text = text[: begin - start] + self._of(kind, name) + text[end - start :]
        return text

    def _of(self, kind: str, name: str) -> str:
        known = self._known[kind]
        if name in self._made or name in known:
            return known.get(name, name)
        number = len(known) + 1
        while any(f"{kind}{number}" in text for text in self._texts) or f"{kind}{number}" in self._made:
            number += 1
        known[name] = f"{kind}{number}"
        self._made.add(known[name])
        return known[name]

    def _is_telling(self, name: str) -> bool:
        return len(name) >= SHORTEST and name not in self._keep and not name.isdigit()


def _each_string(text: str, change: Callable[[str], str]) -> str:
    """The text changed; of a JSON document each string in it, so that it stays one."""
    if RECORD.match(text):
        try:
            return json.dumps(_changed(json.loads(text), change), ensure_ascii=False)
        except (ValueError, RecursionError):
            pass  # it only begins like one
    return change(text)


def _changed(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _value(key, item, value, change) for key, item in value.items()}
    if isinstance(value, list):
        return _words(value, change)
    return value


def _value(key: object, item: object, whole: Mapping[object, object], change: Callable[[str], str]) -> object:
    """A local variable with a secret's name has a secret for a value."""
    named = whole.get("name") if key == "repr" else None
    if isinstance(item, str) and isinstance(named, str) and SECRET_NAME.search(named):
        return change(f"{HIDDEN_VALUE}{item}")[len(HIDDEN_VALUE) :]
    return _changed(item, change)


def _words(items: Sequence[object], change: Callable[[str], str]) -> List[object]:
    """The items of a list; in a command line the word behind an option like `--token` is a secret."""
    found: List[object] = []
    for before, item in zip([None, *items], items):
        hides = isinstance(before, str) and SECRET_OPTION.match(before) and isinstance(item, str)
        if hides and isinstance(item, str):
            found.append(change(f"{HIDDEN_VALUE}{item}")[len(HIDDEN_VALUE) :])
        else:
            found.append(_changed(item, change))
    return found

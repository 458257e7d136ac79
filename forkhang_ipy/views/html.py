"""A diagnosis as one piece of static HTML: for a saved notebook, a report, a mail.

In goes a `Diagnosis`, out comes a `<div>` with its own style sheet and without a script; it says what the text says, in
the same order, and what is folded can be opened. Nothing is loaded from anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional, Sequence, Tuple

from forkhang_ipy.views.crowd import MOST_BRANCHES, group_lines, tree_lines
from forkhang_ipy.views.focus import Focus, calls, focus, others
from forkhang_ipy.views.listing import Group, Line, listing
from forkhang_ipy.views.markup import Html, element, join, preformatted
from forkhang_ipy.views.names import place
from forkhang_ipy.views.rows import Cell, Mark, Row, rows
from forkhang_ipy.views.style import STYLE
from forkhang_ipy.views.words import SIGN, gap_words, link_title, unread_words, verdict_words

if TYPE_CHECKING:
    from forkhang_ipy.model import Branch, Diagnosis, Frame, Link, Remedy, Thread
    from forkhang_ipy.model import Group as Stacks

LINE_CLASS = {"⊘": "stuck", "◌": "ghost"}
TAG_CLASS = {Mark.BLOCKED_HERE: "tag", Mark.FORKED_HERE: "tag forked"}


def html(diagnosis: Diagnosis, groups: Sequence[Stacks] = (), trees: Sequence[Branch] = ()) -> str:
    """The whole diagnosis as a fragment that can stand in any page; groups and prefix trees stand below the verdict."""
    return str(
        element(
            "div",
            element("style", Html(STYLE)),
            element("div", _head(diagnosis), class_=diagnosis.verdict.value),
            _crowd(groups, trees),
            _chain(diagnosis),
            element("div", _list(listing(diagnosis)), _stacks(diagnosis), class_="body"),
            _foot(diagnosis),
            _not_seen(diagnosis),
            class_="forkhang",
        )
    )


# --- verdict, chain, list --------------------------------------------------------------------------------------------


def _head(diagnosis: Diagnosis) -> Html:
    words = f"{SIGN[diagnosis.verdict]} {verdict_words(diagnosis)} · {diagnosis.confidence.value}"
    decide = element("p", element("b", "To decide: "), diagnosis.decide) if diagnosis.decide else None
    return element(
        "div",
        element("span", words, class_="verdict"),
        element("div", element("p", diagnosis.summary), decide, class_="says"),
        class_="head",
    )


def _crowd(groups: Sequence[Stacks], trees: Sequence[Branch]) -> Html:
    if not groups:
        return Html()
    lines = [element("li", line, class_="stuck" if line.startswith("odd: ") else None) for line in group_lines(groups)]
    drawn = [preformatted("\n".join(tree_lines(tree, MOST_BRANCHES))) for tree in trees]
    calls = element("details", element("summary", "Outermost calls first"), *drawn)
    return element("div", element("h4", "Stacks in common"), element("ul", *lines), calls, class_="crowd")


def _chain(diagnosis: Diagnosis) -> Html:
    if not diagnosis.chain:
        return Html()
    steps = [_step(index, link) for index, link in enumerate(diagnosis.chain)]
    return element("ol", *steps, class_="chain", aria_label="Who waits for whom")


def _step(index: int, link: Link) -> Html:
    sign = element("span", "→", class_="arrow", aria_hidden="true") if index else None
    box = element("div", element("b", link_title(link)), element("small", link.says), class_="box")
    return element("li", sign, box, class_=_step_class(link))


def _step_class(link: Link) -> Optional[str]:
    if link.gone:
        return "gone"
    return "root" if link.waits_for is None else None


def _list(groups: Sequence[Group]) -> Html:
    parts: List[Html] = []
    for group in groups:
        parts.append(element("h4", group.heading))
        parts.append(element("ul", *[_line(line) for line in group.lines]))
    return element("div", *parts, class_="list")


def _line(line: Line) -> Html:
    who = join(element("b", line.pids) if line.pids else None, f" {line.name}", element("small", line.note))
    sign = element("span", line.sign, class_="sign", aria_hidden="true")
    return element("li", sign, element("span", who), class_=LINE_CLASS.get(line.sign))


# --- stacks ----------------------------------------------------------------------------------------------------------


def _stacks(diagnosis: Diagnosis) -> Html:
    shown = focus(diagnosis)
    tables = [_table(rows(one.thread, one.finding), f"{one.title}, innermost first") for one in shown]
    return element("div", *tables, _more(diagnosis, shown), class_="stacks")


def _more(diagnosis: Diagnosis, shown: Sequence[Focus]) -> Html:
    """Every other thread, each stack once, closed."""
    seen = {calls(one.thread) for one in shown}
    pointed = {calls(finding.thread): finding for finding in reversed(diagnosis.findings)}
    parts = [
        element(
            "details", element("summary", words), _table(rows(thread, pointed.get(calls(thread))), "innermost first")
        )
        for words, thread in _stacks_by_line(diagnosis)
        if calls(thread) not in seen
    ]
    return element("div", element("b", "Other stacks"), *parts, class_="more") if parts else Html()


def _stacks_by_line(diagnosis: Diagnosis) -> List[Tuple[str, Thread]]:
    """What a line of the list stands for, once for each stack that its threads have."""
    found: List[Tuple[str, Thread]] = []
    for line in [line for group in listing(diagnosis) for line in group.lines]:
        threads = [member.thread for member in line.members if member.thread is not None]
        alike = {calls(thread): thread for thread in threads if thread.python or thread.native}
        words = " ".join(part for part in (line.sign, line.pids, line.name, f"· {line.note}") if part.strip("· "))
        found.extend((words, thread) for thread in alike.values())
    return found


def _table(found: Sequence[Row], caption: str) -> Html:
    columns = {"Python": [row.python for row in found], "Native": [row.native for row in found]}
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    head = element("tr", *[element("th", name, scope="col") for name in shown])
    body = [
        element("tr", *[_cell(cells[index]) for cells in shown.values()], class_="hit" if row.decisive else None)
        for index, row in enumerate(found)
    ]
    return element("table", element("caption", caption), element("thead", head), element("tbody", *body))


def _cell(cell: Optional[Cell]) -> Html:
    if cell is None:
        return element("td")
    if cell.folded:
        frames = [element("div", frame.function or "(no name)", " ", _place(frame)) for frame in cell.folded]
        return element("td", element("details", element("summary", cell.function), *frames))
    return element(
        "td",
        *[_number(number) for number in cell.proof],
        element("span", cell.function, class_="own" if cell.own else None),
        join(" ", element("span", cell.place, class_="at")) if cell.place else None,
        element("span", cell.mark.value, class_=TAG_CLASS[cell.mark]) if cell.mark else None,
        _locals(cell),
    )


def _place(frame: Frame) -> Html:
    return element("span", place(frame), class_="at")


def _locals(cell: Cell) -> Html:
    if not cell.locals:
        return Html()
    values = [element("div", f"{name} = {value}") for name, value in cell.locals]
    return element("details", element("summary", "locals"), *values)


def _number(number: int, *, class_: str = "ref") -> Html:
    return element("span", str(number), class_=class_)


# --- proof, cure, gaps -----------------------------------------------------------------------------------------------


def _foot(diagnosis: Diagnosis) -> Html:
    evidence = diagnosis.findings[0].evidence if diagnosis.findings else ()
    proof = [
        element("li", _number(number), element("div", one.sentence)) for number, one in enumerate(evidence, start=1)
    ]
    also = [element("p", sentence, class_="quiet") for sentence in others(diagnosis)]
    cure = [_remedy(number, remedy) for number, remedy in enumerate(diagnosis.remedies, start=1)]
    sections = [
        element("section", element("h3", name), element("ol", *items), *extra)
        for name, items, extra in (("Proof", proof, also), ("Cure", cure, []))
        if items or extra
    ]
    return element("div", *sections, class_="foot") if sections else Html()


def _remedy(number: int, remedy: Remedy) -> Html:
    code = None if remedy.code is None else preformatted(remedy.code.rstrip())
    words = join(element("b", remedy.title), element("p", remedy.detail, class_="quiet"), code)
    return element("li", _number(number, class_="ref step"), element("div", words))


def _not_seen(diagnosis: Diagnosis) -> Html:
    parts = [
        element("p", element("b", "Not seen: "), f"{gap_words(gap)} Try: ", element("span", gap.hint, class_="mono"))
        for gap in diagnosis.dump.gaps
    ]
    if diagnosis.dump.unread:
        unread = [element("div", line, class_="mono") for line in diagnosis.dump.unread]
        parts.append(element("details", element("summary", unread_words(len(unread))), *unread))
    return element("div", *parts, class_="gaps") if parts else Html()

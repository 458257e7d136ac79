"""A diagnosis as text: for a terminal, a log, a bug report.

In goes a `Diagnosis`, out comes a string. Without colour it holds no escape codes, and with colour every sign keeps its
word. Nothing is printed, and the terminal is not asked for its width.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Dict, Iterator, List, Optional, Sequence, Tuple

from forkhang_ipy.views.crowd import MOST_BRANCHES, group_lines, tree_lines
from forkhang_ipy.views.focus import Focus, focus, others
from forkhang_ipy.views.listing import Line, listing
from forkhang_ipy.views.names import printable, printable_lines
from forkhang_ipy.views.rows import Cell, Mark, Row, rows
from forkhang_ipy.views.words import SIGN, gap_words, link_title, unread_words, verdict_words

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from forkhang_ipy.model import Branch, Diagnosis, Gap, Group, Link, Remedy

DEEPEST = 20
"""Columns: what stands further in is no longer moved."""
SIDE_BY_SIDE_FROM = 80
"""Narrower, the two columns stand one below the other."""

CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
STYLE = {
    "fork-deadlock": "bold bright_red",
    "fork-error": "bold bright_red",
    "not-fork-deadlock": "bold yellow",
    "inconclusive": "bold yellow",
    "not-hung": "bold green",
}
STUCK_STYLE = "bold yellow"
GHOST_STYLE = "italic magenta"
MARK_STYLE = {Mark.BLOCKED_HERE: STUCK_STYLE, Mark.FORKED_HERE: "bold cyan"}


def text(
    diagnosis: Diagnosis,
    groups: Sequence[Group] = (),
    trees: Sequence[Branch] = (),
    *,
    width: int = 100,
    colour: bool = False,
) -> str:
    """The whole diagnosis in lines of at most `width` columns; the last line ends with a newline.

    Groups and prefix trees, where there are any, stand below the verdict.
    """
    console = _console(width, colour=colour)
    verdict, *rest = _sections(diagnosis, width)
    for section in (verdict, _groups(groups), *map(_tree, trees), *rest):
        if section:
            console.print(*section, sep="\n")
            console.print()
    file = console.file
    written = file.getvalue() if isinstance(file, io.StringIO) else ""
    return "\n".join(line.rstrip() for line in written.rstrip().split("\n")) + "\n"


def _console(width: int, *, colour: bool) -> Console:
    from rich.console import Console

    return Console(
        file=io.StringIO(),
        width=width,
        height=25,  # with both given, rich does not ask the terminal
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        force_jupyter=False,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def _sections(diagnosis: Diagnosis, width: int) -> Iterator[List[RenderableType]]:
    yield _verdict(diagnosis)
    yield _chain(diagnosis)
    yield _listing(diagnosis)
    for shown in focus(diagnosis):
        yield _stacks(shown, width)
    yield _proof(diagnosis)
    yield _cure(diagnosis.remedies)
    yield _not_seen(diagnosis.dump.gaps, len(diagnosis.dump.unread))


# --- verdict and chain -----------------------------------------------------------------------------------------------


def _verdict(diagnosis: Diagnosis) -> List[RenderableType]:
    style = STYLE[diagnosis.verdict.value]
    words = f"{SIGN[diagnosis.verdict]} {verdict_words(diagnosis).upper()} · {diagnosis.confidence.value}"
    found: List[RenderableType] = [_text((words, style)), _text((printable(diagnosis.summary), ""))]
    if diagnosis.decide:
        found.append(_text(("To decide: ", "bold"), (printable(diagnosis.decide), "")))
    return found


def _chain(diagnosis: Diagnosis) -> List[RenderableType]:
    """One line a link, each a step further in."""
    return [_step(depth, link) for depth, link in enumerate(diagnosis.chain)]


def _step(depth: int, link: Link) -> RenderableType:
    from rich.padding import Padding

    arrow = "→ " if depth else ""
    style = GHOST_STYLE if link.gone else STUCK_STYLE
    content = _text((arrow, ""), (printable(link_title(link)), style), (" " + printable(link.says), ""))
    return Padding(content, (0, 0, 0, 2 + 2 * max(depth - 1, 0)))


# --- what many have in common ----------------------------------------------------------------------------------------


def _groups(groups: Sequence[Group]) -> List[RenderableType]:
    lines = [_indented(line, STUCK_STYLE if line.startswith("odd: ") else "") for line in group_lines(groups)]
    return [_heading("Stacks in common"), *lines] if lines else []


def _tree(tree: Branch) -> List[RenderableType]:
    return [_heading("Outermost calls first"), *(_indented(line) for line in tree_lines(tree, MOST_BRANCHES))]


def _indented(line: str, style: str = "") -> RenderableType:
    from rich.padding import Padding

    steps = min(len(line) - len(line.lstrip(" ")), DEEPEST)
    return Padding(_text((printable(line.lstrip(" ")), style)), (0, 0, 0, 2 + steps))


# --- list ------------------------------------------------------------------------------------------------------------


def _listing(diagnosis: Diagnosis) -> List[RenderableType]:
    groups = listing(diagnosis)
    if not groups:
        return []
    grid = _grid(columns=3)
    for group in groups:
        for index, line in enumerate(group.lines):
            grid.add_row(_text((printable(group.heading) if index == 0 else "", "bold")), *_line(line))
    return [grid]


def _line(line: Line) -> Tuple[Text, Text]:
    style = {"⊘": STUCK_STYLE, "◌": GHOST_STYLE}.get(line.sign, "")
    who = " ".join(part for part in (line.sign, line.pids, printable(line.name)) if part)
    return _text((who, style)), _text((printable(line.note), "dim"))


# --- stacks ----------------------------------------------------------------------------------------------------------


def _stacks(shown: Focus, width: int) -> List[RenderableType]:
    found = rows(shown.thread, shown.finding)
    caption = _text((printable(shown.title), "bold"), (", innermost first", "dim"))
    cells = {"Python": [row.python for row in found], "Native": [row.native for row in found]}
    columns = {name: column for name, column in cells.items() if any(column)}
    locals_ = [_locals(cell) for cell in cells["Python"] if cell is not None and cell.locals]
    if len(columns) == len(cells) and width >= SIDE_BY_SIDE_FROM:
        return [caption, _side_by_side(found, width), *locals_]
    return [caption, *_one_below_the_other(columns, width), *locals_]


def _side_by_side(found: Sequence[Row], width: int) -> Table:
    from rich import box
    from rich.table import Table

    left, right = _widths(found, width - len(" │ "))
    table = Table(box=box.MINIMAL, show_edge=False, pad_edge=False, header_style="bold", border_style="dim")
    table.add_column("   Python", width=left, overflow="fold")
    table.add_column("   Native", width=right, overflow="fold")
    for row in found:
        table.add_row(_cell(row.python, left), _cell(row.native, right))
    return table


def _widths(found: Sequence[Row], available: int) -> Tuple[int, int]:
    """What the two columns get: what they need, or else the native one somewhat more."""
    wanted = max((_cell(row.python, available).cell_len for row in found), default=0)
    wanted_right = max((_cell(row.native, available).cell_len for row in found), default=0)
    left = min(wanted, max(available - wanted_right, available * 43 // 100))
    left = max(left, available * 3 // 10)
    return left, available - left


def _one_below_the_other(columns: Dict[str, List[Optional[Cell]]], width: int) -> List[RenderableType]:
    shown: List[RenderableType] = []
    for name, cells in columns.items():
        shown.append(_text(("   " + name, "bold")))
        shown.extend(_cell(cell, width) for cell in cells if cell is not None)
    return shown


def _cell(cell: Optional[Cell], width: int) -> Text:
    """`▶① name place BLOCKED HERE`; blanks stand where there is no sign, so that names line up."""
    if cell is None:
        return _text()
    if cell.folded:
        return _text(("   " + printable(cell.function), "dim italic"))
    mark_style = MARK_STYLE[cell.mark] if cell.mark else STUCK_STYLE
    sign = "▶" if cell.decisive else "●" if cell.mark else " "
    found = _text(
        (sign + ("".join(map(_number, cell.proof)) or " ") + " ", mark_style),
        (printable(cell.function), "bold" if cell.own or cell.decisive else ""),
    )
    for words, style in ((printable(cell.place), "dim"), (cell.mark.value if cell.mark else "", mark_style)):
        if words:
            _append(found, words, style, width)
    return found


def _append(found: Text, words: str, style: str, width: int) -> None:
    """The words in the same line where they fit, else in the next."""
    from rich.cells import cell_len

    last_line = found.plain.split("\n")[-1]
    fits = cell_len(last_line) + 1 + cell_len(words) <= width
    found.append((" " if fits else "\n   ") + words, style)


def _locals(cell: Cell) -> Text:
    values = ", ".join(f"{name} = {value}" for name, value in cell.locals)
    return _text((f"{printable(cell.function)} {printable(cell.place)}: ", "bold"), (printable(values), ""))


def _number(number: int) -> str:
    return CIRCLED[number - 1] if number <= len(CIRCLED) else f"({number})"


# --- proof, cure, gaps -----------------------------------------------------------------------------------------------


def _proof(diagnosis: Diagnosis) -> List[RenderableType]:
    evidence = diagnosis.findings[0].evidence if diagnosis.findings else ()
    grid = _grid(columns=2)
    for number, proof in enumerate(evidence, start=1):
        grid.add_row(_text((" " + _number(number), STUCK_STYLE)), _text((printable(proof.sentence), "")))
    also = [_text((printable(sentence), "")) for sentence in others(diagnosis)]
    return [_heading("Proof"), grid, *also] if evidence else [*also]


def _cure(remedies: Sequence[Remedy]) -> List[RenderableType]:
    if not remedies:
        return []
    grid = _grid(columns=2)
    for number, remedy in enumerate(remedies, start=1):
        grid.add_row(_text((f" {number}.", "bold")), _text((printable(remedy.title), "bold")))
        grid.add_row("", _text((printable(remedy.detail), "")))
        if remedy.code is not None:
            grid.add_row("", _code(remedy.code))
    return [_heading("Cure"), grid]


def _code(code: str) -> RenderableType:
    from rich.padding import Padding

    return Padding(_text((printable_lines(code.rstrip()), "cyan")), (0, 0, 0, 4))


def _not_seen(gaps: Sequence[Gap], unread: int) -> List[RenderableType]:
    found: List[RenderableType] = [
        _text(("Not seen: ", "bold"), (printable(f"{gap_words(gap)} Try: {gap.hint}"), "")) for gap in gaps
    ]
    if unread:
        found.append(_text((unread_words(unread), "dim")))
    return found


# --- pieces ----------------------------------------------------------------------------------------------------------


def _heading(words: str) -> Text:
    return _text((words, "bold"))


def _text(*parts: Tuple[str, str]) -> Text:
    from rich.text import Text

    return Text.assemble(*parts, overflow="fold", no_wrap=False)


def _grid(*, columns: int) -> Table:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(columns):
        grid.add_column(overflow="fold")
    return grid

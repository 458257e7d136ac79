"""`ps` in any of its shapes: the header names the columns; without one, the shapes of `ps`, `ps -ef` and `ps aux`.

        PID    PPID STAT NLWP WCHAN                    CMD
      15243   15241 Sl      4 hrtimer_nanosleep        python pool.py
      15376   15373 Z       1 -                        [python] <defunct>

One row is a process, or a thread where there is a column LWP, TID or SPID. NLWP counts the live tasks; where it is 1,
the only task has the process's number.
"""

from __future__ import annotations

import re
from typing import Dict, List, Optional

from forkhang_ipy.formats import kernel
from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.model import Dump, Process, Thread

HEADER = re.compile(r"^ *(?:[A-Z%][A-Z%_+]*:? +)*PID(?: +[A-Z%][A-Z%_+]*)+ *$")
ROW = re.compile(r"^ *\S+ +\S+")
PLAIN = re.compile(
    r"^ *(?P<PID>\d+) +(?P<TTY>\?|pts/\d+|tty\w*) +(?P<TIME>(?:\d+-)?\d+:\d\d(?::\d\d)?) +(?P<CMD>\S.*)$"
)
FULL = re.compile(
    r"^[a-z_][\w.+-]* +(?P<PID>\d+) +(?P<PPID>\d+) +\d+ +\S+ +(?P<TTY>\?|pts/\d+|tty\w*) +(?P<TIME>"
    r"(?:\d+-)?\d+:\d\d:\d\d) +(?P<CMD>\S.*)$"
)
AUX = re.compile(
    r"^[a-z_][\w.+-]* +(?P<PID>\d+) +\d+\.\d +\d+\.\d +\d+ +\d+ +(?P<TTY>\?|pts/\d+|tty\w*) +"
    r"(?P<STAT>[A-Z][<NLsl+]*) +\S+ +\S+ +(?P<CMD>\S.*)$"
)
LIKE_HEADER = {
    "COMMAND": "CMD",
    "S": "STAT",
    "STATE": "STAT",
    "TID": "LWP",
    "SPID": "LWP",
    "THCNT": "NLWP",
    "ARGS": "CMD",
    "COMM": "CMD",
}
WORDS_OF = {"STARTED": 5, "LSTART": 5}
"""Columns that hold several words."""
DEAD = ("Z", "X")
DEFUNCT = "<defunct>"
Row = Dict[str, str]


def _read(lines: Lines) -> Optional[Dump]:
    header = lines.take(HEADER)
    rows = _under(header.group().split(), lines) if header else _headless(lines)
    if not rows:
        if header:
            lines.at -= 1
        return None
    numbers = list(dict.fromkeys(int(row["PID"]) for row in rows))
    processes = tuple(_process(pid, [row for row in rows if int(row["PID"]) == pid]) for pid in numbers)
    return Dump(processes=processes, sources=("ps",))


def _under(names: List[str], lines: Lines) -> List[Row]:
    columns = [LIKE_HEADER.get(name.rstrip(":"), name) for name in names]
    rows: List[Row] = []
    while ROW.match(lines.next):
        row = _row(columns, lines.next)
        if row is None:
            break
        lines.step()
        rows.append(row)
    return rows


def _row(columns: List[str], line: str) -> Optional[Row]:
    """The cells of one line; the last column takes what is left. None where the numbers are no numbers."""
    words = sum(WORDS_OF.get(column, 1) for column in columns)
    cells = line.split(None, words - 1)
    row: Row = {}
    for column in columns:
        count = WORDS_OF.get(column, 1)
        row[column] = " ".join(cells[:count])
        cells = cells[count:]
    return row if all(row[key].isdigit() for key in ("PID", "PPID", "LWP", "NLWP") if key in row) else None


def _headless(lines: Lines) -> List[Row]:
    rows: List[Row] = []
    while True:
        match = lines.take(PLAIN) or lines.take(FULL) or lines.take(AUX)
        if not match:
            return rows
        rows.append(match.groupdict())


def _process(pid: int, rows: List[Row]) -> Process:
    first = rows[0]
    command = first.get("CMD", "").lstrip("\\_| ") or None  # a forest's branches
    state = (first.get("STAT") or "")[:1] or ("Z" if command and command.endswith(DEFUNCT) else None)
    counted = int(first["NLWP"]) if first.get("NLWP") else None
    listed = tuple(int(row["LWP"]) for row in rows if row.get("LWP"))
    lives = state not in DEAD
    tasks = listed or ((pid,) if counted == 1 and lives else None)
    return Process(
        pid=pid,
        parent=int(first["PPID"]) if first.get("PPID") else None,
        command=command,
        tasks=tasks if counted in (None, len(tasks or ())) else None,
        threads=tuple(_thread(row, pid) for row in rows if row.get("STAT") or row.get("LWP")) if lives else (),
        state=state,
        live_tasks=counted if lives else 0,
    )


def _thread(row: Row, pid: int) -> Thread:
    """The task of this row; a process's row is that of its main thread."""
    tid = int(row["LWP"]) if row.get("LWP") else pid
    state = (row.get("STAT") or "")[:1] or None
    return Thread(
        tid=tid,
        name=row.get("CMD") if row.get("LWP") and " " not in row.get("CMD", " ") else None,
        state=state,
        wait=kernel.wait_of(None, "", state, row.get("WCHAN")),
        ghost=False,
    )


BEGINS = re.compile(
    r"^ *(?:[A-Z%][A-Z%_+]*:? +)*PID(?: +[A-Z%][A-Z%_+]*)+ *$|^ *\d+ +(?:\?|pts/\d+|tty\w*) +\S*\d:\d\d"
    r"|^[a-z_][\w.+-]* +\d+ +\d"
)
FORMAT = SectionFormat("ps", BEGINS, _read)

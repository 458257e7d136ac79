"""What py-spy says when it cannot look: a gap, with its reason and what to try.

    Error: Failed to merge native and python frames (Have 1 native and 2 python)

    Caused by:
        0: No such file or directory (os error 2)
    Reason: ...

Only sentences that py-spy is known to say are read: other programs have errors too.
"""

from __future__ import annotations

import re
from typing import Optional, Tuple

from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.model import Dump, Gap, Process

HINTS: Tuple[Tuple[str, str], ...] = (
    (r"Permission Denied: Try running again", "Run it as root, or with CAP_SYS_PTRACE."),
    (r"Failed to find python version from target process", "It is no Python process, or its program was replaced."),
    (r"Failed to get process executable name", "The process has ended."),
    (r"(?i:failed to get os threadid)", "Take it without --native."),
    (r"UNW_\w+", "Take it without --native, and the native stack with gdb."),
    (r"Failed to merge native and python frames", "Take it without --native, and the native stack with gdb."),
    (r"Failed to suspend process", "Run it as root, or use --nonblocking."),
    (r"Unsupported version of Python", "Upgrade py-spy."),
    (r"Can't get native stack traces with the --nonblocking option", "Drop one of the two options."),
    (r"Native unwinding isn't yet supported", "Use gdb for the native stack of a core file."),
    (r".*not supported on your platform", "Use gdb for the native stack."),
    (r"(?i:failed to get gil_thread_id)", "Upgrade py-spy, or use pystack."),
)
ERROR = re.compile(r"^Error: (?P<why>(?:" + "|".join(sentence for sentence, _ in HINTS) + r").*)$")
CAUSED = re.compile(r"^Caused by:$|^Stack backtrace:$|^Reason: .*$")
CAUSE = re.compile(r"^ {4,}\S")


def _read(lines: Lines) -> Optional[Dump]:
    match = lines.take(ERROR)
    if not match:
        return None
    if not lines.next and CAUSED.match(lines.after(1)):
        lines.step()
    if lines.take(CAUSED):
        while lines.take(CAUSE):
            pass
    why = match["why"]
    hint = next(hint for sentence, hint in HINTS if re.match(sentence, why))
    gap = Gap(process=None, what="python stack", why=f"py-spy: {why}", hint=hint)
    return Dump(processes=(Process(pid=None),), gaps=(gap,), sources=("py-spy",))


FORMAT = SectionFormat("py-spy's errors", re.compile(r"^Error: "), _read)

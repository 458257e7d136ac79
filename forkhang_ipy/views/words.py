"""The words and signs that text and HTML share.

In go the nouns of the model, out come short pieces of English. What a sign says stands beside it in words, too.
"""

from __future__ import annotations

from typing import Optional

from forkhang_ipy.model import Diagnosis, Gap, Link, Process, Thread, Verdict, Wait, WaitKind

SIGN = {
    Verdict.FORK_DEADLOCK: "⊘",
    Verdict.FORK_ERROR: "⊗",
    Verdict.NOT_FORK_DEADLOCK: "◇",
    Verdict.INCONCLUSIVE: "?",
    Verdict.NOT_HUNG: "✓",
}


def verdict_words(diagnosis: Diagnosis) -> str:
    """`Fork deadlock`: the verdict as a title."""
    words = diagnosis.verdict.value.replace("-", " ")
    return words[0].upper() + words[1:]


def wait_words(wait: Optional[Wait], *, how_long: bool = True) -> Optional[str]:
    """`lock, for ever`, `child 1718`; None where nobody knows."""
    if wait is None:
        return None
    target = f" {wait.target}" if wait.target is not None else ""
    ends = {False: ", for ever", True: ", with a timeout", None: ""}[wait.timeout]
    return wait.kind.value + target + (ends if how_long and wait.kind is not WaitKind.CHILD else "")


def thread_words(thread: Thread) -> str:
    """The thread's name, else its number, else what it is."""
    if thread.name:
        return thread.name
    if thread.tid is not None:
        return f"thread {thread.tid}"
    return "thread" if thread.ident is None else f"thread {thread.ident:#x}"


def title(pid: Optional[int], thread: Optional[str]) -> str:
    """`1718 MainThread`."""
    return " ".join(part for part in ("?" if pid is None else str(pid), thread) if part)


def link_title(link: Link) -> str:
    """Who stands at this step of the chain; `GONE` for a thread that fork did not copy."""
    return "GONE" if link.gone else title(link.process, link.thread)


def process_words(process: Process) -> str:
    """What a process without a single known thread is."""
    if process.ended:
        return "ended while we looked"
    return "dead, not yet waited for" if process.state == "Z" else "no thread seen"


def gap_words(gap: Gap) -> str:
    """`python stack of 4010: ptrace is not permitted here.`."""
    whose = f" of {gap.process}" if gap.process is not None else ""
    return f"{gap.what}{whose}: {gap.why.rstrip('.')}."


def unread_words(lines: int) -> str:
    """How many lines nobody could read."""
    return "1 line belongs to no known format." if lines == 1 else f"{lines} lines belong to no known format."

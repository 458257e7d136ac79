"""Which stacks are shown in full, and what the other findings come to.

In goes a `Diagnosis`. With a finding, its thread is shown; without one, those threads of the target that are stuck or
wait, its main thread first. Other findings become one sentence a kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

from forkhang_ipy.views.listing import STUCK, WAITING, Member, heading, ranges
from forkhang_ipy.views.words import thread_words, title

if TYPE_CHECKING:
    from forkhang_ipy.model import Diagnosis, Finding, Process, Thread

SHOWN_WITHOUT_FINDING = 3


@dataclass(frozen=True)
class Focus:
    """One thread whose stacks are shown, and the finding that points into them."""

    title: str
    thread: Thread
    finding: Optional[Finding] = None


def focus(diagnosis: Diagnosis) -> Tuple[Focus, ...]:
    """The first finding's thread; without findings up to three threads of the target, each stack once."""
    if diagnosis.findings:
        finding = diagnosis.findings[0]
        return (Focus(title(finding.process, thread_words(finding.thread)), finding.thread, finding),)
    alike: Dict[object, Focus] = {}
    for member in _worth_seeing(diagnosis):
        if member.thread is not None and (member.thread.python or member.thread.native):
            shown = Focus(title(member.process.pid, thread_words(member.thread)), member.thread)
            alike.setdefault(calls(member.thread), shown)
    return tuple(alike.values())[:SHOWN_WITHOUT_FINDING]


def others(diagnosis: Diagnosis) -> Tuple[str, ...]:
    """One sentence for each kind of finding after the first."""
    if not diagnosis.findings:
        return ()
    first = diagnosis.findings[0]
    kinds: Dict[Tuple[str, str, str], List[Optional[int]]] = {}
    for finding in diagnosis.findings[1:]:
        kinds.setdefault((finding.signature, finding.title, finding.confidence.value), []).append(finding.process)
    same = (first.signature, first.title, first.confidence.value)
    return tuple(
        f"The same in {ranges(pids) or '?'}."
        if kind == same
        else f"Also: {ranges(pids) or '?'} waits for {kind[1]} · {kind[2]}"
        for kind, pids in kinds.items()
    )


def calls(thread: Thread) -> Tuple[object, ...]:
    """What makes two threads' stacks the same to the eye: addresses do not count."""
    return thread.python, tuple((frame.function, frame.module, frame.line) for frame in thread.native)


def _worth_seeing(diagnosis: Diagnosis) -> List[Member]:
    process = diagnosis.dump.process(diagnosis.dump.target) or next(iter(diagnosis.dump.processes), None)
    everyone = [Member(process, thread) for process in diagnosis.dump.processes for thread in process.threads]
    stuck = [member for member in everyone if heading(diagnosis, member) in {STUCK, WAITING}]
    if process is None:
        return stuck
    own = [Member(process, thread) for thread in process.threads if not thread.ghost]
    waiting = [one for one in own if heading(diagnosis, one) in {STUCK, WAITING}]
    main = [one for one in own if _is_main(process, one.thread)]
    return main + (waiting or stuck) if main else waiting or stuck or own


def _is_main(process: Process, thread: Optional[Thread]) -> bool:
    return thread is not None and (thread.name == "MainThread" or process.pid in {thread.tid} - {None})

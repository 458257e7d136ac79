"""A diagnosis as the one JSON document of `--json`.

In goes a `Diagnosis`; out comes a dict of JSON's own types, keys in a fixed order. Unknown is null. Addresses are
hexadecimal and pthread ids decimal strings, because JavaScript rounds numbers of 64 bits.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Union

from forkhang_ipy.model import (
    Column,
    Diagnosis,
    Evidence,
    Finding,
    Frame,
    FrameAt,
    Lock,
    Owner,
    Process,
    Thread,
    Wait,
)
from forkhang_ipy.views.names import short_file
from forkhang_ipy.views.words import link_title

SCHEMA = "forkhang/1"

Json = Union[None, bool, int, str, Sequence[object], Dict[str, object]]


def payload(diagnosis: Diagnosis) -> Dict[str, object]:
    """The whole document; `json.dumps` of it gives the same bytes for the same diagnosis."""
    return {
        "schema": SCHEMA,
        "verdict": diagnosis.verdict.value,
        "confidence": diagnosis.confidence.value,
        "summary": diagnosis.summary,
        "decide": diagnosis.decide,
        "chain": [
            {
                "process": link.process,
                "thread": link.thread,
                "tid": link.tid,
                "sentence": f"{link_title(link)} {link.says}",
                "gone": link.gone,
                "waits_for": link.waits_for,
            }
            for link in diagnosis.chain
        ],
        "stuck": [list(pair) for pair in diagnosis.stuck],
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "remedies": [
            {"id": remedy.id, "title": remedy.title, "detail": remedy.detail, "code": remedy.code}
            for remedy in diagnosis.remedies
        ],
        "target": diagnosis.dump.target,
        "samples": diagnosis.dump.samples,
        "sources": list(diagnosis.dump.sources),
        "processes": [_process(process) for process in diagnosis.dump.processes],
        "gaps": [
            {"process": gap.process, "what": gap.what, "why": gap.why, "try": gap.hint} for gap in diagnosis.dump.gaps
        ],
        "unread": list(diagnosis.dump.unread),
    }


def _finding(finding: Finding) -> Dict[str, object]:
    thread = finding.thread
    return {
        "signature": finding.signature,
        "title": finding.title,
        "verdict": finding.verdict.value,
        "confidence": finding.confidence.value,
        "process": finding.process,
        "who": finding.who.value,
        "thread": {"tid": thread.tid, "ident": _ident(thread.ident), "name": thread.name},
        "frames": _frames_at(finding.frames, thread),
        "fork_site": _frames_at(finding.fork_site, thread),
        "lock": _lock(finding.lock),
        "evidence": [evidence.sentence for evidence in finding.evidence],
        "proof": [_proof(evidence) for evidence in finding.evidence],
        "remedies": list(finding.remedies),
    }


def _proof(evidence: Evidence) -> Dict[str, object]:
    """A sentence with the places of the frames that carry it: the number of a proof is its place in the list."""
    return {
        "sentence": evidence.sentence,
        "frames": [{"stack": at.column.value, "index": at.index} for at in evidence.frames],
    }


def _frames_at(places: Sequence[FrameAt], thread: Thread) -> List[Dict[str, object]]:
    return [_frame_at(at, thread) for at in places]


def _frame_at(at: FrameAt, thread: Thread) -> Dict[str, object]:
    column = thread.python if at.column is Column.PYTHON else thread.native
    frame = column[at.index] if at.index < len(column) else Frame(None)
    return {
        "stack": at.column.value,
        "index": at.index,
        "function": frame.function,
        "file": short_file(frame.file),
        "line": frame.line,
    }


def _lock(lock: Optional[Lock]) -> Json:
    if lock is None:
        return None
    return {
        "kind": lock.kind,
        "address": _hexadecimal(lock.address),
        "owner_tid": lock.owner_tid,
        "owner_ident": _ident(lock.owner_ident),
        "owner_gone": lock.owner_gone,
        "in_parent": None if lock.in_parent is None else lock.in_parent.value,
        "owner": _owner(lock.owner),
    }


def _owner(owner: Optional[Owner]) -> Json:
    if owner is None:
        return None
    return {
        "process": owner.process,
        "thread": owner.thread,
        "function": owner.function,
        "file": short_file(owner.file),
        "line": owner.line,
    }


def _process(process: Process) -> Dict[str, object]:
    return {
        "pid": process.pid,
        "parent": process.parent,
        "command": process.command,
        "python": process.python,
        "forked": process.forked,
        "forked_why": process.forked_why,
        "state": process.state,
        "ended": process.ended,
        "threads": [_thread(thread) for thread in process.threads],
    }


def _thread(thread: Thread) -> Dict[str, object]:
    return {
        "tid": thread.tid,
        "ident": _ident(thread.ident),
        "name": thread.name,
        "ghost": thread.ghost,
        "state": thread.state,
        "holds_gil": thread.holds_gil,
        "wait": _wait(thread.wait),
        "python": [_python_frame(frame) for frame in thread.python],
        "native": [{**_call(frame), "module": frame.module} for frame in thread.native],
    }


def _wait(wait: Optional[Wait]) -> Json:
    if wait is None:
        return None
    return {
        "kind": wait.kind.value,
        "told": wait.told.value,
        "call": wait.call,
        "target": wait.target,
        "file": wait.file,
        "address": _hexadecimal(wait.address),
        "private": wait.private,
        "timeout": wait.timeout,
    }


def _python_frame(frame: Frame) -> Dict[str, object]:
    """The frame; with its locals where they were asked for."""
    return {**_call(frame), "locals": dict(frame.locals)} if frame.locals else _call(frame)


def _call(frame: Frame) -> Dict[str, object]:
    return {"function": frame.function, "file": short_file(frame.file), "line": frame.line}


def _ident(ident: Optional[int]) -> Optional[str]:
    return None if ident is None else str(ident)


def _hexadecimal(address: Optional[int]) -> Optional[str]:
    return None if address is None else f"{address:#x}"

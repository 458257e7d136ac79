"""`Dump` in, `Diagnosis` out. Nothing is opened or asked: what was seen is all there is.

The order of decision: is it stuck at all, was it forked, what does each innermost wait want, which signature, and what
proves it. Being wrong costs people days: without proof nothing is called more than likely, and a doubt is said.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Iterator, List, Optional, Sequence, Tuple

from forkhang_ipy.analysis import graph, sentences
from forkhang_ipy.analysis.ancestry import origin, with_ancestry
from forkhang_ipy.analysis.evidence import evidence
from forkhang_ipy.analysis.facts import Place, is_helper
from forkhang_ipy.analysis.frames import matches
from forkhang_ipy.analysis.matching import Match, fork_site, match
from forkhang_ipy.analysis.progress import Progress, progress, retries
from forkhang_ipy.analysis.waits import with_waits
from forkhang_ipy.knowledge.forks import BEFORE_FORK
from forkhang_ipy.knowledge.remedies import REMEDIES
from forkhang_ipy.model import (
    Confidence,
    Diagnosis,
    Dump,
    Finding,
    Link,
    Process,
    Remedy,
    Thread,
    Told,
    Verdict,
    WaitKind,
    Who,
)

WEIGHT = (
    Verdict.FORK_DEADLOCK,
    Verdict.FORK_ERROR,
    Verdict.NOT_FORK_DEADLOCK,
    Verdict.INCONCLUSIVE,
    Verdict.NOT_HUNG,
)
DECISIVE = (Verdict.FORK_DEADLOCK, Verdict.FORK_ERROR, Verdict.NOT_FORK_DEADLOCK)
"""Verdicts that one thread is enough for."""
SURE = (Confidence.PROVEN, Confidence.LIKELY, Confidence.POSSIBLE)
Case = Tuple[Place, Match]


@dataclass(frozen=True)
class Answer:
    """The verdict and what it says; `decide` where it is inconclusive."""

    verdict: Verdict
    confidence: Confidence
    summary: str
    decide: Optional[str] = None


def diagnose(dump: Dump) -> Diagnosis:
    """What this dump shows, and what proves it."""
    seen = with_waits(with_ancestry(_with_speaker(dump)))
    waits = graph.graph(seen)
    stuck = graph.stuck(waits)
    places = [place for place in _places(seen, stuck) if _in_scope(place.process, seen)]
    shown = ((place, found) for place, found in zip(places, map(match, places)) if found and _counts(place, found))
    cases = sorted(shown, key=_weight)
    answer = _answer(cases, places)
    findings = tuple(_finding(found, place) for place, found in cases)
    return Diagnosis(
        verdict=answer.verdict,
        confidence=answer.confidence,
        summary=answer.summary,
        findings=findings,
        chain=tuple(_chain(seen, cases, waits)),
        stuck=tuple(sorted(stuck, key=lambda node: tuple(number or 0 for number in node))),
        remedies=_remedies(findings, answer.verdict),
        dump=seen,
        decide=answer.decide,
    )


def _with_speaker(dump: Dump) -> Dump:
    """Lines of log without any stack come from some thread, of which nothing else is known."""
    return dump if dump.processes or not dump.unread else replace(dump, processes=(Process(None, threads=(Thread(),)),))


# --- places and findings ---------------------------------------------------------------------------------------------


def _places(dump: Dump, stuck: frozenset[graph.Node]) -> Iterator[Place]:
    for process in dump.processes:
        for thread in graph.live(process):
            yield Place(thread, process, origin(process, dump), dump, stuck)


def _in_scope(process: Process, dump: Dump) -> bool:
    """Whether a process is the one that was asked about, or descends from it; its parent is only a witness."""
    target = dump.process(dump.target)
    return target is None or target.parent is None or process.pid != target.parent


def _counts(place: Place, found: Match) -> bool:
    """Parked threads of native pools are what they should be, where the main thread tells more."""
    main = graph.main_thread(place.process)
    beside_main = main is not None and main.tid == place.process.pid and place.thread != main
    return found.signature.verdict is Verdict.FORK_DEADLOCK or bool(place.thread.python) or not beside_main


def _weight(case: Case) -> Tuple[bool, int, int]:
    _, found = case
    possible = found.confidence is Confidence.POSSIBLE
    return possible, WEIGHT.index(found.signature.verdict), SURE.index(found.confidence)


def _finding(found: Match, place: Place) -> Finding:
    signature = found.signature
    return Finding(
        signature=signature.id,
        title=sentences.title(found, place),
        verdict=signature.verdict,
        confidence=found.confidence,
        who=_who(place),
        process=place.process.pid,
        thread=place.thread,
        frames=found.frames,
        fork_site=fork_site(place.thread) if place.process.forked else (),
        lock=sentences.named_lock(place.lock, signature.lock),
        evidence=tuple(evidence(found, place)),
        remedies=tuple(remedy.id for remedy in signature.remedies),
        bug=signature.bug.id if signature.bug else None,
    )


def _who(place: Place) -> Who:
    if place.process.forked:
        return Who.CHILD
    if any(matches(BEFORE_FORK, frame) for frame in place.thread.native):
        return Who.PARENT
    has_children = any(other.parent == place.process.pid for other in place.dump.processes)
    waits_for_child = place.thread.wait is not None and place.thread.wait.kind is WaitKind.CHILD
    return Who.PARENT if has_children or waits_for_child else Who.NONE


def _remedies(findings: Sequence[Finding], verdict: Verdict) -> Tuple[Remedy, ...]:
    """The remedies of the findings that the verdict rests on, each once."""
    known = {remedy.id: remedy for remedy in REMEDIES}
    ids = dict.fromkeys(name for finding in findings if finding.verdict is verdict for name in finding.remedies)
    return tuple(known[name] for name in ids)


# --- the answer ------------------------------------------------------------------------------------------------------


def _answer(cases: Sequence[Case], places: Sequence[Place]) -> Answer:
    for place, found in cases:
        if found.confidence is not Confidence.POSSIBLE and found.signature.verdict in DECISIVE:
            proof = sentences.proof(place) if found.confidence is Confidence.LIKELY else None
            return Answer(found.signature.verdict, found.confidence, sentences.summary(found, place), proof)
    stopped = next((place for place in places if _is(place, WaitKind.STOPPED)), None)
    if stopped is not None:
        return Answer(Verdict.NOT_FORK_DEADLOCK, Confidence.PROVEN, sentences.stopped(stopped))
    doubts = [place for place in places if not _explained(place, cases, places)]
    doubtful = min(doubts, key=lambda place: _is(place, WaitKind.CHILD), default=None)
    if doubtful is not None or not places:
        suspicion = next((found for place, found in cases if place == doubtful), None)
        summary, decide = sentences.doubt(doubtful, suspicion)
        return Answer(Verdict.INCONCLUSIVE, Confidence.POSSIBLE, summary, decide)
    mains = [place for place in places if place.thread == graph.main_thread(place.process)]
    moving = next((place for place in mains if _moves(place)), None)
    if moving is not None:
        return Answer(Verdict.NOT_HUNG, Confidence.PROVEN, sentences.moving(moving))
    return Answer(Verdict.NOT_HUNG, Confidence.LIKELY, sentences.waiting_well(mains[0]))


def _explained(place: Place, cases: Sequence[Case], places: Sequence[Place]) -> bool:
    """Whether a thread is well: it moves, wakes by itself, is an idle worker, or waits for somebody who is well."""
    if _moves(place) or not _matters(place) or _is_idle_worker(place, cases):
        return True
    wait = place.thread.wait
    if wait is None or wait.told is Told.STACK or graph.node(place.process, place.thread) in place.stuck:
        return False
    if wait.kind in (WaitKind.LOCK, WaitKind.GIL):
        return _owner_moves(place) or (bool(wait.timeout) and not retries(place.thread))
    if wait.kind in (WaitKind.NOTIFICATION, WaitKind.THREAD, WaitKind.SEMAPHORE):
        return bool(wait.timeout) or any(_moves(other) for other in places if _works_for(other, place))
    return wait.kind is not WaitKind.CHILD or not _child_is_unseen(place)


def _is_idle_worker(place: Place, cases: Sequence[Case]) -> bool:
    found = next((found for other, found in cases if other == place), None)
    claimed = found is not None and found.confidence is not Confidence.POSSIBLE
    return found is not None and claimed and found.signature.verdict is Verdict.NOT_HUNG


def _child_is_unseen(place: Place) -> bool:
    """Whether nothing was seen of the child that the thread waits for."""
    target = place.thread.wait.target if place.thread.wait else None
    children = [child.pid for child in place.dump.processes if child.parent == place.process.pid]
    return not any(target in (None, pid) for pid in children)


def _owner_moves(place: Place) -> bool:
    """Whether the thread that holds the lock is known, alive and moves: that strangers move explains nothing."""
    lock = place.lock
    owner = graph.holder(lock, place.process, place.parent) if lock is not None else None
    return owner is not None and progress(owner) is Progress.MOVING


def _matters(place: Place) -> bool:
    """The main thread, and any thread that stands in a lock of Python's; idle threads of pools are nobody's worry.

    In a saved text a process of which only a listing tells is no doubt of its own.
    """
    if place.process.state == "Z" or is_helper(place.process):
        return False
    if place.dump.target is None and not (place.thread.native or place.thread.python or place.thread.error):
        return all(not (thread.native or thread.python) for other in place.dump.processes for thread in other.threads)
    if place.thread == graph.main_thread(place.process):
        return True
    return bool(place.thread.python) and _is(place, WaitKind.LOCK)


def _works_for(other: Place, place: Place) -> bool:
    """Whether this thread may be the one that is waited for: of the same process, or of a descendant."""
    ancestors = list(_ancestors(other.process, place.dump))
    return place.process.pid in ancestors


def _ancestors(process: Process, dump: Dump) -> Iterator[Optional[int]]:
    seen: List[Optional[int]] = []
    above: Optional[Process] = process
    while above is not None and above.pid not in seen:
        seen.append(above.pid)
        yield above.pid
        above = dump.process(above.parent)


def _is(place: Place, kind: WaitKind) -> bool:
    return place.thread.wait is not None and place.thread.wait.kind is kind


def _moves(place: Place) -> bool:
    spins = progress(place.thread) is Progress.SPINNING and graph.node(place.process, place.thread) not in place.stuck
    return spins or (progress(place.thread) is Progress.MOVING and not retries(place.thread))


# --- the chain -------------------------------------------------------------------------------------------------------


def _chain(dump: Dump, cases: Sequence[Case], waits: graph.Graph) -> Iterator[Link]:
    """From the process that was asked about to the root; from the finding, where no wait leads there."""
    by_node = {
        graph.node(process, thread): (process, thread) for process in dump.processes for thread in process.threads
    }
    decisive = graph.node(cases[0][0].process, cases[0][0].thread) if cases else None
    target = dump.process(dump.target)
    main = graph.main_thread(target) if target else None
    path = _path(graph.node(target, main), waits) if target and main else []
    if decisive is not None and decisive not in path:
        path = _path(decisive, waits)
    found = {graph.node(case[0].process, case[0].thread): case for case in cases}
    for position, at in enumerate(path):
        following = path[position + 1][0] if position + 1 < len(path) else None
        process, thread = by_node[at]
        says = sentences.link(thread, found.get(at))
        yield Link(process.pid, thread.name, thread.tid, says, following)
    if path and path[-1] in found:
        place, root = found[path[-1]]
        if root.signature.verdict is Verdict.FORK_DEADLOCK:
            yield Link(None, None, None, sentences.gone(root, place), None, gone=True)


def _path(start: graph.Node, waits: graph.Graph) -> List[graph.Node]:
    path = [start]
    while True:
        targets = [target for target in waits.get(path[-1], ()) if not isinstance(target, graph.End)]
        if len(targets) != 1 or targets[0] in path:
            return path
        path.append(targets[0])

"""`strace -p PID`, with `-f`, `-r`, `-t`, `-ttt`, `-y`: what each task waits for in the kernel, by its last line.

    strace: Process 4242 attached
    [pid  4242] 1701835810.183378 (+     0.000096) futex(0x7f00dd001060, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
    [pid  4250] <... clone resumed>, child_tidptr=0x7f00bb00cc00) = 4251
    [pid  4251] wait4(4252,
    +++ exited with 0 +++

A call without a result is one that the task is in; after a call with a result it runs. `[pid N]` is a task's number:
it may be a thread of another of these processes. Calls between are not kept: a call that comes again is another call.
"""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Tuple

from forkhang_ipy.formats import kernel
from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.model import Dump, Process, Thread, Told, Wait, WaitKind

ATTACHED = re.compile(
    r"^(?:(?:\S*/)?strace: )?[Pp]rocess (?P<pid>\d+) attached"
    r"(?: with (?P<threads>\d+) threads)?(?: - interrupt to quit)?$"
)
DETACHED = re.compile(
    r"^(?:(?:\S*/)?strace: )?[Pp]rocess (?P<pid>\d+) (?:detached|resumed.*|suspended)$"
    r"|^\^C(?:strace: .*)?$|^ <detached \.\.\.>$"
)
WHO = r"^(?:\[pid +(?P<pid>\d+)\] |(?P<number>\d+) +(?=[\d<a-z]))?"
WHEN = r"(?:(?:\d\d:\d\d:\d\d|\d{5,})(?:\.\d+)? |\d+\.\d{6} )?(?:\( *\+ *\d+\.\d+\) )?"
CALL = re.compile(
    WHO + r" *" + WHEN + r" *(?P<name>[a-z_][a-z0-9_]*)\((?P<arguments>.*?)"
    r"(?P<end>\) += (?P<result>-?\d+|0x[0-9a-f]+|\?).*| <unfinished \.\.\.>| ?<detached \.\.\.>"
    r"|\^C.*|(?:(?:\S*/)?strace: )?[Pp]rocess \d+ detached.*|[, ]*(?:\.\.\.|…)|\)?)$"
)
RESUMED = re.compile(
    WHO + r" *" + WHEN + r" *<\.\.\. (?P<name>[a-z_][a-z0-9_]*) resumed>(?P<arguments>.*?)"
    r"(?P<end>\) += (?P<result>-?\d+|0x[0-9a-f]+|\?).*| <unfinished \.\.\.>|)$"
)
EVENT = re.compile(
    WHO
    + r" *"
    + WHEN
    + r" *(?:--- (?:SIG\w+|stopped by).* ---|\+\+\+ (?P<ended>exited with \d+|killed by \w+).* \+\+\+)$"
)
INTERRUPTED = "ERESTART"
"""A signal, or the tracer itself, ended the call only for it to begin again."""
FORKS = ("clone", "clone3", "fork", "vfork")
THREAD_FLAG = "CLONE_THREAD"
RESTARTS = re.compile(r"<\.\.\. resuming interrupted (?P<name>\w+)")
DESCRIPTOR = re.compile(r"^(?P<number>\d+)(?:<(?P<file>.*)>)?$")
WAIT_OPERATIONS = re.compile(r"^FUTEX_(?:WAIT|LOCK_PI|WAIT_REQUEUE_PI)")


class _Task:
    """One task, as its last line shows it."""

    def __init__(self) -> None:
        self.wait: Optional[Wait] = None
        self.ended = False
        self.parent: Optional[int] = None


class _Trace:
    """What was read so far."""

    def __init__(self) -> None:
        self.tasks: Dict[Optional[int], _Task] = {}
        self.attached: List[int] = []
        self.threads: Optional[int] = None
        """How many threads the first process had that was attached, where it had several."""


def _read(lines: Lines) -> Optional[Dump]:
    stood = lines.at
    trace = _Trace()
    while lines and _take(lines, trace):
        pass
    if lines.at == stood:
        return None
    _name_the_only_one(trace)
    processes = _processes(trace)
    return Dump(processes=processes, sources=("strace",) if processes else ())


def _name_the_only_one(trace: _Trace) -> None:
    """Lines without a number are of the process that was attached, where that is one."""
    for pid in trace.attached:
        unnamed = trace.tasks.pop(None, None) if len(trace.attached) == 1 else None
        trace.tasks.setdefault(pid, unnamed or _Task())


def _processes(trace: _Trace) -> Tuple[Process, ...]:
    """Each task is a process; but where the first had threads, those that came from nowhere are its threads."""
    first = trace.attached[0] if trace.attached and trace.threads else None
    later = {*trace.attached[1:], *(pid for pid, task in trace.tasks.items() if task.parent is not None)}
    of_first = [pid for pid in trace.tasks if first is not None and pid not in later]
    alone = tuple(_process(pid, task) for pid, task in trace.tasks.items() if pid not in of_first)
    if not of_first:
        return alone
    threads = tuple(_thread(pid, trace.tasks[pid]) for pid in of_first if not trace.tasks[pid].ended)
    return (Process(pid=first, threads=threads, live_tasks=trace.threads), *alone)


def _take(lines: Lines, trace: _Trace) -> bool:
    tasks = trace.tasks
    told = lines.take(ATTACHED)
    if told:
        trace.attached.append(int(told["pid"]))
        trace.threads = trace.threads or (int(told["threads"]) if told["threads"] else None)
        return True
    if lines.take(DETACHED):
        return True
    event = lines.take(EVENT)
    if event:
        task = tasks.setdefault(_who(event), _Task())
        task.ended = task.ended or bool(event["ended"])
        return True
    match = RESUMED.match(lines.next) or CALL.match(lines.next)
    if not match or not _is_call(match):
        return False
    lines.step()
    _follow(match, tasks)
    return True


def _is_call(match: re.Match[str]) -> bool:
    """A call that has neither a result nor a mark is one that was cut, and only where we know its name."""
    return (bool(match["end"]) and match["end"] != ")") or match["name"] in kernel.BY_NAME or match["name"] in OTHERS


def _who(match: re.Match[str]) -> Optional[int]:
    number = match["pid"] or match["number"]
    return int(number) if number else None


def _follow(match: re.Match[str], tasks: Dict[Optional[int], _Task]) -> None:
    task = tasks.setdefault(_who(match), _Task())
    if match["result"] is None or INTERRUPTED in match["end"]:
        task.wait = _wait(match["name"], _split(match["arguments"])) or task.wait
        return
    task.wait = Wait(WaitKind.ON_CPU, Told.KERNEL, call=match["name"])
    child = match["result"]
    if match["name"] in FORKS and child.isdigit() and int(child) and THREAD_FLAG not in match["arguments"]:
        tasks.setdefault(int(child), _Task()).parent = _who(match)


def _process(pid: Optional[int], task: _Task) -> Process:
    threads = () if task.ended else (_thread(pid, task),)
    return Process(pid=pid, parent=task.parent, threads=threads, ended=task.ended)


def _thread(tid: Optional[int], task: _Task) -> Thread:
    return Thread(tid=tid, wait=task.wait, ghost=False)


# --- one call --------------------------------------------------------------------------------------------------------


def _split(text: str) -> List[str]:
    """The arguments: commas inside brackets and strings part nothing."""
    found, depth, quoted, start = [], 0, False, 0
    for place, letter in enumerate(text):
        if letter == '"' and text[place - 1 : place] != "\\":
            quoted = not quoted
        elif not quoted and letter in "([{":
            depth += 1
        elif not quoted and letter in ")]}":
            depth -= 1
        elif letter == "," and not quoted and depth <= 0:
            found.append(text[start:place].strip())
            start = place + 1
    last = text[start:].strip()
    return [*found, last] if last else found


def _wait(name: str, arguments: List[str]) -> Optional[Wait]:
    if name == "restart_syscall":
        again = RESTARTS.search(arguments[0]) if arguments else None
        name, arguments = (again["name"] if again else name), []
    call = kernel.BY_NAME.get(name)
    if call is None:
        return None
    if name == "futex":
        return _futex(arguments)
    descriptor = DESCRIPTOR.match(_at(arguments, call.file) or "")
    return Wait(
        call.kind,
        Told.KERNEL,
        call=name,
        target=_pid(_at(arguments, call.target)),
        file=descriptor["file"] if descriptor else None,
        timeout=True if call.wakes else _limited(_at(arguments, call.timeout)) if call.timeout is not None else False,
    )


def _futex(arguments: List[str]) -> Wait:
    operation, value = _at(arguments, 1), _at(arguments, 2)
    address = _at(arguments, 0) or ""
    waits = operation is None or WAIT_OPERATIONS.match(operation)
    return Wait(
        WaitKind.LOCK if waits else WaitKind.ON_CPU,
        Told.KERNEL,
        call="futex",
        address=int(address, 16) if re.match(r"^0x[0-9a-f]+$", address) else None,
        value=int(value) if value and value.isdigit() else None,
        private="_PRIVATE" in operation if operation else None,
        timeout=_limited(_at(arguments, 3)),
    )


def _at(arguments: List[str], place: Optional[int]) -> Optional[str]:
    return arguments[place] if place is not None and place < len(arguments) else None


def _limited(limit: Optional[str]) -> Optional[bool]:
    """None where the line was cut before it."""
    if limit is None:
        return None
    return limit != "NULL" and not limit.startswith("-")


def _pid(argument: Optional[str]) -> Optional[int]:
    """A pid to wait for; -1 and P_ALL are none."""
    return int(argument) if argument and argument.isdigit() and int(argument) else None


OTHERS = ("restart_syscall",)
BEGINS = re.compile(
    r"^(?:(?:\S*/)?strace: )?[Pp]rocess \d+ attached|^\[pid +\d+\] |^(?:\d+ +)?"
    + WHEN
    + r" *(?:[a-z_][a-z0-9_]*\(|<\.\.\. \w+ resumed|--- SIG|\+\+\+ )"
)
FORMAT = SectionFormat("strace", BEGINS, _read, one_thread=True)

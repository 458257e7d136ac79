"""Whose stacks follow: a command, a comment or a heading above them tells, in the words of a person.

    $ py-spy dump --pid 4242
    (gdb) bt 7    # pid 4242
    # cat /proc/4242/task/4250/stack   (Threads: 2)
    # parent: pid 4242
    Worker process 4242:
    # another rank

A number is only taken for a pid where a word says that it is one. A rank's or a worker's number is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

PROMPT = re.compile(r"^(?:\[?[\w.-]+@[^$#]{1,80}[$#]|(?:ba|z)?sh[-\d.]*[$#]|\$|#) +(?P<command>\S.*)$|^(?P<bare>\S.*)$")
TOOL = re.compile(
    r"^(?:sudo +(?:-\S+ +)*)?(?:\S*/)?(?:py-spy|gdb|strace|ltrace|pstack|gstack|eu-stack|pystack|lldb|sample|cat"
    r"|ps|kubectl"
    r"|docker|python\S* -m \S+)(?: |$)"
)
ARGUMENT = re.compile(
    r"(?:^| )(?:-p|-P|--pid|attach|remote(?: +-\S+)*|attach --pid|process attach -p)[ =]*(?P<pid>\d+)\b"
    r"|/proc/(?P<proc>\d+)/(?:task/(?P<task>\d+)/)?"
    r"|(?:^|[ /])(?:pstack|gstack|sample|dump) +(?P<bare>\d+)\b"
    r"|(?:^|[ /])gdb +[^ -]\S* +(?P<program>\d+)\b"
)
DEBUGGER = re.compile(r"^(?:\((?:gdb|lldb)\) *)+(?P<command>\S.*)$")
SAYS_PID = re.compile(
    r"(?i)(?:\bpid|\bprocess id)\W{0,3}(?P<pid>\d+)\b|\b(?:process|child|parent) (?P<number>\d{2,}|\d(?=:))\b(?! of\b)"
)
COMMENT = re.compile(r"^(?!#\d+ )(?:#+|//+|;+|-{2,}|={2,}|\*{2,})[ \t]*(?P<words>[^\W_].*?)[ \t#=*-]*:?$")
HEADING = re.compile(
    r"(?i)^(?:[\w /().,'-]{0,60}\b(?:pid|process|child|parent|worker|rank)\b[\w /().,'#=-]{0,40}:"
    r"|\W{0,3}pid\W{0,3}\d+\W{0,3}"
    r"|(?:the )?(?:main|parent|child|worker)(?: process)?(?: #?\d+)?(?: \(?(?:pid\W{0,3})?\d+\)?)?)$"
)
THREAD = re.compile(r"\bthread[ :]+[\"']?(?P<name>[A-Z][\w-]*)")
TASKS = re.compile(r"\b(?:Threads|NLWP)\b\W{1,3}(?P<count>\d+)")


@dataclass(frozen=True)
class Whose:
    """Whose the sections are that follow."""

    pid: Optional[int] = None
    tid: Optional[int] = None
    """The task, where the line names it."""
    label: Optional[str] = None
    """The line, where it is a person's and not a command."""
    thread: Optional[str] = None
    """The thread's name, where the line says it."""
    live_tasks: Optional[int] = None


def whose(line: str) -> Optional[Whose]:
    """What this line says of the sections below it; None where it is no such line."""
    return _debugger(line) or _command(line) or _comment(line)


def _debugger(line: str) -> Optional[Whose]:
    """A debugger's command says something where it names a process."""
    match = DEBUGGER.match(line)
    if not match:
        return None
    argument, said = ARGUMENT.search(match["command"]), SAYS_PID.search(match["command"])
    pid = argument["pid"] if argument else said and (said["pid"] or said["number"])
    return Whose(pid=int(pid)) if pid else None


def _command(line: str) -> Optional[Whose]:
    match = PROMPT.match(line)
    command = (match["command"] or match["bare"]) if match else ""
    if not TOOL.match(command):
        return None
    argument = ARGUMENT.search(command)
    if not argument and not (match and match["command"]):
        return None
    pid = (
        next((int(pid) for pid in argument.group("pid", "proc", "bare", "program") if pid), None) if argument else None
    )
    task = argument["task"] if argument else None
    return Whose(pid=pid, tid=int(task) if task else None, live_tasks=_count(command))


def _comment(line: str) -> Optional[Whose]:
    match = COMMENT.match(line) or HEADING.match(line)
    if not match:
        return None
    said, thread = SAYS_PID.search(line), THREAD.search(line)
    pid = said and (said["pid"] or said["number"])
    return Whose(
        pid=int(pid) if pid else None,
        label=line,
        thread=thread["name"] if thread else None,
        live_tasks=_count(line),
    )


def _count(line: str) -> Optional[int]:
    match = TASKS.search(line)
    return int(match["count"]) if match else None

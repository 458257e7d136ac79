"""Take the dumps of `real/` anew, from a program that truly hangs: python -m tests.formats.take_real.

It needs gdb, eu-stack (elfutils), strace, py-spy and pystack, and a CPython of each version below. What tells where
they were taken is replaced.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

from tests import live

HERE = Path(__file__).parent / "real"
PROGRAM = "threading_lock.py"
VERSIONS = ("3.8.18", "3.13.0")
PATIENCE = 120.0
LOOKING = 3.0
"""Seconds that a tool which never ends by itself is left alone."""
Command = Tuple[str, ...]
# What is run for a hang's child (or parent and child); `{pid}` is the child, `{parent}` its parent.
COMMANDS: Dict[str, Command] = {
    "py_spy": ("py-spy", "dump", "--pid", "{pid}"),
    "py_spy_native": ("py-spy", "dump", "--native", "--pid", "{parent}"),
    "py_spy_locals": ("py-spy", "dump", "--locals", "--pid", "{pid}"),
    "py_spy_subprocesses": ("py-spy", "dump", "--subprocesses", "--pid", "{parent}"),
    "py_spy_json": ("py-spy", "dump", "--json", "--pid", "{pid}"),
    "py_spy_record": ("py-spy", "record", "-d", "1", "-f", "raw", "--idle", "-o", "{file}", "--pid", "{pid}"),
    "pystack": ("pystack", "--no-color", "remote", "{pid}"),
    "pystack_native": ("pystack", "--no-color", "remote", "--native", "{parent}"),
    "pystack_locals": ("pystack", "--no-color", "remote", "--locals", "{pid}"),
    "pystack_core": ("pystack", "--no-color", "core", "{core}", "{python}"),
    "gdb": ("gdb", "-nx", "-batch", "-p", "{pid}", "-ex", "thread apply all bt"),
    "gdb_threads": ("gdb", "-nx", "-batch", "-p", "{parent}", "-ex", "info threads", "-ex", "thread apply all bt"),
    "gdb_full": ("gdb", "-nx", "-batch", "-p", "{pid}", "-ex", "bt full 3"),
    "eu_stack": ("eu-stack", "-p", "{pid}"),
    "eu_stack_modules": ("eu-stack", "-m", "-s", "-i", "-a", "-p", "{parent}"),
    "strace": ("strace", "-f", "-p", "{parent}"),
    "ps": ("ps", "-o", "pid,ppid,stat,nlwp,wchan:24,cmd", "-p", "{parent},{pid}"),
    "ps_threads": ("ps", "-L", "-o", "pid,ppid,lwp,stat,wchan:24,comm", "-p", "{parent},{pid}"),
    "proc_stack": ("sh", "-c", "echo '$ cat /proc/{pid}/syscall'; cat /proc/{pid}/syscall"),
    "proc_status": ("cat", "/proc/{pid}/status"),
}


def main() -> None:
    """Write what each command prints for each version, and what Python itself says."""
    interpreters = dict(live.INTERPRETERS)
    for version in VERSIONS:
        python = interpreters[version]
        for name, text in (*_tools(python), *_python_itself(python)):
            path = HERE / f"{name}-{version}.txt"
            path.write_text(_scrubbed(text, python), encoding="utf-8")


def _tools(python: str) -> Iterator[Tuple[str, str]]:
    with live.hanging(PROGRAM, python) as hang, tempfile.TemporaryDirectory() as folder:
        core = _core(hang.child, folder)
        for name, command in COMMANDS.items():
            file = str(Path(folder) / name)
            places = {"pid": hang.child, "parent": hang.parent, "file": file, "core": core, "python": python}
            words = [_tool(command[0]), *(word.format(**places) for word in command[1:])]
            yield name, _output(words) if "{file}" not in command else _written(words, file)


def _core(pid: object, folder: str) -> str:
    subprocess.run(
        [_tool("gcore"), "-o", f"{folder}/core", str(pid)], capture_output=True, timeout=PATIENCE, check=True
    )
    return f"{folder}/core.{pid}"


def _output(words: List[str]) -> str:
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        return process.communicate(timeout=LOOKING if "strace" in words[0] else PATIENCE)[0]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=PATIENCE)[0]


def _written(words: List[str], file: str) -> str:
    _output(words)
    return Path(file).read_text("utf-8")


def _python_itself(python: str) -> Iterator[Tuple[str, str]]:
    """faulthandler at a fatal signal; the traceback of an interrupt."""
    for name, number in (("faulthandler", signal.SIGABRT), ("traceback", signal.SIGINT)):
        with tempfile.TemporaryFile("w+") as complaints:
            process = subprocess.Popen(
                [python, "-X", "faulthandler", str(live.HANGS / PROGRAM)],
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=live.environment(),
                start_new_session=True,
            )
            try:
                facts = live.ready_line(process, complaints, PATIENCE)
                live.settle(process.pid)
                os.kill(int(facts["child"]), number)
                select.select([], [], [], LOOKING)
            finally:
                live.end(process)
            complaints.seek(0)
            yield name, complaints.read()


def _tool(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise SystemExit(f"There is no {name} on this machine.")
    return found


def _scrubbed(text: str, python: str) -> str:
    places = {
        str(live.HANGS): "/app",
        str(Path(python).resolve().parent.parent): "/opt/python",
        str(Path(python).parent.parent): "/opt/python",
        sys.prefix: "/opt/tools",
        tempfile.gettempdir(): "/scratch",
        socket.gethostname(): "host",
    }
    for place, instead in places.items():
        text = text.replace(place, instead)
    return re.sub(r"(?m)^(?:Uid|Gid|Groups|Cpus_allowed\w*|Mems_allowed\w*):.*\n", "", text)


if __name__ == "__main__":
    main()

"""What on a stack or in a command line tells a forked process from one that was started anew. Data only."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.calls import Call

IN_FORK = Call(r"PyOS_AfterFork_Child|__run_fork_handlers|__run_postfork_handlers")
"""Only the child's side of fork() runs these."""

BEFORE_FORK = Call(r"PyOS_BeforeFork|__run_prefork_handlers|grpc_prefork(\(\))?")
"""The parent runs these, inside fork() and before there is a child."""

FORKED: Tuple[Call, ...] = (
    Call(r"(.*\.)?_launch", r"(multiprocessing|billiard|multiprocess)/popen_fork\.py"),
    Call(r"(.*\.)?spawn_worker", r"gunicorn/arbiter\.py"),
    Call(r"(.*\.)?fork_worker|fork_processes", r"(rq/worker|tornado/process)\.py"),
)
"""Python frames that lie below everything a forked child runs."""

STARTED_ANEW: Tuple[Call, ...] = (
    Call(r"spawn_main", r"(multiprocessing|multiprocess)/spawn\.py"),
    Call(r"main|<module>", r"(loky/backend/popen_loky_posix|multiprocessing/forkserver)\.py"),
)
"""Python frames that lie below everything that a spawned worker runs."""

STARTED_ANEW_COMMAND = r"--multiprocessing-fork|popen_loky_posix|multiprocessing\.spawn|multiprocessing\.forkserver"
"""In the command line. `--multiprocessing-fork` means spawn, in spite of its name."""

"""Four diagnoses, written by hand: what views are shown of the world."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence, Tuple

from forkhang_ipy.model import (
    Column,
    Confidence,
    Diagnosis,
    Dump,
    Evidence,
    Finding,
    Frame,
    FrameAt,
    Gap,
    InParent,
    Link,
    Lock,
    Owner,
    Process,
    Remedy,
    Thread,
    Told,
    Verdict,
    Wait,
    WaitKind,
    Who,
)

LIBPYTHON = "/opt/python-3.8.18/lib/libpython3.8.so.1.0"
STDLIB = "/opt/python-3.8.18/lib/python3.8/"
TORCH = STDLIB + "site-packages/torch/utils/data/dataloader.py"
LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
LOCK_FOR_EVER = Wait(WaitKind.LOCK, Told.KERNEL, call="futex", address=0x7F36161CFC30, private=True, timeout=False)
START_METHOD = Remedy(
    "start-method",
    "Start workers clean instead of copying this process's locks",
    "A forkserver's workers inherit no thread and no lock.",
    'import multiprocessing as mp\n\nmp.set_start_method("forkserver", force=True)',
)
PATH_IN_PYTHON = ("_PyEval_EvalFrameDefault", "function_code_fastcall", "_PyObject_Vectorcall", "call_function")


def python(*frames: Tuple[str, str, int]) -> Tuple[Frame, ...]:
    return tuple(Frame(function, file, line) for function, file, line in frames)


def native(module: str, *functions: str) -> Tuple[Frame, ...]:
    return tuple(Frame(function, module=module) for function in functions)


def at(column: Column, *indices: int) -> Tuple[FrameAt, ...]:
    return tuple(FrameAt(column, index) for index in indices)


def evaluations(frames: Sequence[Frame]) -> Tuple[Frame, ...]:
    """What the interpreter's own stack looks like under so many Python frames."""
    return native(LIBPYTHON, *PATH_IN_PYTHON) * len(frames)


def gh_112275() -> Diagnosis:
    """A worker that hangs inside os.fork(), on the thread-list lock that a native thread held."""
    forked_in = python(
        ("make_loader", "/home/ada/work/train.py", 31),
        ("<module>", "/home/ada/work/train.py", 42),
    )
    stack = (
        *python(
            ("_launch", STDLIB + "multiprocessing/popen_fork.py", 70),
            ("__init__", STDLIB + "multiprocessing/popen_fork.py", 19),
            ("_Popen", STDLIB + "multiprocessing/context.py", 277),
            ("start", STDLIB + "multiprocessing/process.py", 121),
            ("__init__", TORCH, 918),
            ("_get_iterator", TORCH, 306),
        ),
        *forked_in,
    )
    natives = (
        *native(LIBC, "futex_wait"),
        *native(LIBPYTHON, "PyThread_acquire_lock_timed", "_PyThreadState_DeleteExcept", "PyOS_AfterFork_Child"),
        *native(LIBPYTHON, "os_fork", "cfunction_vectorcall_NOARGS", "_PyObject_Vectorcall"),
        *evaluations(stack),
        *native(LIBPYTHON, "PyEval_EvalCode", "run_mod", "PyRun_SimpleFileExFlags", "Py_RunMain", "Py_BytesMain"),
        *native(LIBC, "__libc_start_main"),
        *native("/opt/python-3.8.18/bin/python3.8", "_start"),
    )
    stuck = Thread(139918104038272, 1718, name="MainThread", python=stack, native=natives, wait=LOCK_FOR_EVER)
    ghosts = (
        Thread(
            139918095644416,
            name="pin_memory",
            ghost=True,
            python=python(("get", STDLIB + "queue.py", 170), ("pin", "/home/ada/work/train.py", 12)),
        ),
        Thread(139918087251712, name="tb_writer", ghost=True, python=python(("flush", "/home/ada/work/log.py", 8))),
    )
    waits = Thread(
        139918104038272,
        1680,
        name="MainThread",
        python=python(
            ("poll", STDLIB + "multiprocessing/popen_fork.py", 27),
            ("wait", STDLIB + "multiprocessing/popen_fork.py", 47),
            ("join", STDLIB + "multiprocessing/process.py", 149),
            ("<module>", "/home/ada/work/train.py", 44),
        ),
        wait=Wait(WaitKind.CHILD, Told.KERNEL, call="wait4", target=1718, timeout=False),
    )
    finding = Finding(
        "cpython-head-lock",
        "inside os.fork(), on the interpreter's thread-list lock",
        Verdict.FORK_DEADLOCK,
        Confidence.PROVEN,
        Who.CHILD,
        1718,
        stuck,
        frames=at(Column.NATIVE, 2, 3),
        fork_site=at(Column.PYTHON, 0, 6),
        lock=Lock("HEAD_LOCK", 0x7F36161CFC30, owner_gone=True, owner=Owner(1680, "a native thread")),
        evidence=(
            Evidence(
                "The child stands between PyOS_AfterFork_Child and _PyThreadState_DeleteExcept: "
                "it has not left fork() yet. This is gh-112275.",
                at(Column.NATIVE, 2, 3),
            ),
            Evidence(
                "It waits without a timeout for a lock of its own address space, and it has one live thread: itself.",
                at(Column.NATIVE, 0),
            ),
            Evidence("Python 3.8.18 has the bug; 3.8.20 is the first without it.", at(Column.PYTHON, 0)),
        ),
        remedies=("start-method", "upgrade-python"),
    )
    workers = tuple(_idle_worker(pid, reads=pid == 1690) for pid in range(1690, 1718))
    return Diagnosis(
        Verdict.FORK_DEADLOCK,
        Confidence.PROVEN,
        "Worker 1718 will never go on: it waits for the interpreter's thread-list lock, which a native thread of 1680 "
        "held when the worker was forked. That thread was not copied, so nobody can release it.",
        (finding,),
        (
            Link(1680, "MainThread", 1680, "waits for its child 1718, in join at train.py:44", 1718),
            Link(1718, "MainThread", 1718, "waits for HEAD_LOCK, inside os.fork()", None),
            Link(None, None, None, "a native thread of 1680: fork did not copy it", None, gone=True),
        ),
        ((1718, 1718), (1680, 1680)),
        (START_METHOD, Remedy("upgrade-python", "Upgrade Python", "3.8.18 has gh-112275; first fixed: 3.8.20.")),
        Dump(
            processes=(
                Process(1680, 1, "python train.py", python="3.8.18", forked=False, threads=(waits,)),
                *workers,
                Process(1718, 1680, "python train.py", python="3.8.18", forked=True, threads=(stuck, *ghosts)),
            ),
            target=1680,
            samples=2,
            sources=("py-spy", "libdw", "/proc"),
        ),
    )


def pthread_mutex() -> Diagnosis:
    """A child that waits for a C library's mutex; the word itself names the thread that is gone."""
    stack = python(
        ("query", "/srv/app/db.py", 17),
        ("run", STDLIB.replace("3.8", "3.11") + "multiprocessing/process.py", 108),
        ("_bootstrap", STDLIB.replace("3.8", "3.11") + "multiprocessing/process.py", 314),
        ("_launch", STDLIB.replace("3.8", "3.11") + "multiprocessing/popen_fork.py", 71),
        ("main", "/srv/app/serve.py", 5),
    )
    natives = (
        *native(LIBC, "__lll_lock_wait", "___pthread_mutex_lock"),
        *native("/srv/app/libstore.so", "store_lock", "store_query"),
        *native("/usr/lib/libffi.so.8", "ffi_call"),
        *native("/usr/bin/python3.11", "_PyEval_EvalFrameDefault", "_PyFunction_Vectorcall"),
        Frame(None, module="/usr/bin/python3.11", address=0x51D3A7),
        *native("/usr/bin/python3.11", "Py_RunMain", "Py_BytesMain", "_start"),
    )
    child = Thread(140, 2290, name="MainThread", python=stack, native=natives, wait=LOCK_FOR_EVER)
    holder = Thread(
        150,
        2288,
        name="holder",
        python=python(("hold", "/srv/app/x.py", 5)),
        wait=Wait(WaitKind.SLEEP, Told.KERNEL, timeout=True),
    )
    parent = Thread(140, 2240, name="MainThread", wait=Wait(WaitKind.CHILD, Told.KERNEL, target=2290, timeout=False))
    finding = Finding(
        "pthread-mutex",
        "an inherited pthread mutex",
        Verdict.FORK_DEADLOCK,
        Confidence.PROVEN,
        Who.CHILD,
        2290,
        child,
        frames=at(Column.NATIVE, 1, 2),
        fork_site=at(Column.PYTHON, 3, 4),
        lock=Lock(
            "pthread-mutex",
            0x7F36161CFC30,
            owner_tid=2288,
            owner_ident=150,
            owner=Owner(2240, "holder", "hold", "/srv/app/x.py", 5),
            owner_gone=True,
            in_parent=InParent.HELD,
        ),
        evidence=(
            Evidence("The mutex at 0x7f36161cfc30 names TID 2288 as its owner.", at(Column.NATIVE, 1)),
            Evidence("2288 is no thread of 2290: it is the thread holder of 2240, in hold at x.py:5."),
        ),
        remedies=("start-method",),
    )
    return Diagnosis(
        Verdict.FORK_DEADLOCK,
        Confidence.PROVEN,
        "2290 waits for a mutex that the thread holder of 2240 held when 2290 was forked.",
        (finding,),
        (
            Link(2240, "MainThread", 2240, "waits for its child 2290", 2290),
            Link(2290, "MainThread", 2290, "waits for a pthread-mutex, in store_lock", None),
            Link(None, None, None, "holder of 2240, in hold at x.py:5: fork did not copy it", None, gone=True),
        ),
        ((2290, 2290), (2240, 2240)),
        (START_METHOD,),
        Dump(
            processes=(
                Process(2240, 1, "python serve.py", python="3.11.2", forked=False, threads=(parent, holder)),
                Process(2290, 2240, "python serve.py", python="3.11.2", forked=True, threads=(child,)),
            ),
            target=2240,
            samples=2,
        ),
    )


def idle_pool() -> Diagnosis:
    """A pool with nothing to do: one worker reads, the others wait for their turn."""
    main = Thread(
        140,
        3000,
        name="MainThread",
        python=python(("input_loop", "/srv/app/serve.py", 8), ("<module>", "/srv/app/serve.py", 20)),
        wait=Wait(WaitKind.PIPE_READ, Told.KERNEL, call="read", file="pipe:[8123]"),
    )
    workers = tuple(_idle_worker(pid, reads=pid == 3001) for pid in range(3001, 3031))
    return Diagnosis(
        Verdict.NOT_HUNG,
        Confidence.LIKELY,
        "Nothing is stuck: 30 workers wait for work, one of them reads the queue.",
        (),
        (),
        (),
        (),
        Dump(processes=(Process(3000, 1, "python serve.py", threads=(main,)), *workers), target=3000, samples=2),
    )


def inconclusive() -> Diagnosis:
    """A parent that waits for a child nobody could look into."""
    main = Thread(
        140,
        4000,
        name="MainThread",
        python=python(
            ("poll", STDLIB + "multiprocessing/popen_fork.py", 27),
            ("wait", STDLIB + "multiprocessing/popen_fork.py", 47),
            ("join", STDLIB + "multiprocessing/process.py", 149),
            ("_exit_function", STDLIB + "multiprocessing/util.py", 334),
            ("<module>", "/home/ada/work/train.py", 44),
        ),
        wait=Wait(WaitKind.CHILD, Told.STACK, target=4010),
    )
    return Diagnosis(
        Verdict.INCONCLUSIVE,
        Confidence.POSSIBLE,
        "4000 waits for its child 4010, and 4010 could not be looked into.",
        (),
        (Link(4000, "MainThread", 4000, "waits for its child 4010, in join at train.py:44", 4010),),
        (),
        (),
        Dump(
            processes=(
                Process(4000, 1, "python train.py", python="3.8.18", threads=(main,)),
                Process(4010, 4000, "python train.py", python="3.8.18", forked=True),
            ),
            target=4000,
            gaps=(
                Gap(4010, "python stack", "ptrace is not permitted here.", "sudo forkhang 4000"),
                Gap(None, "native stacks", "no source was at hand.", "pip install pystack"),
            ),
            unread=("some line", "another"),
        ),
        decide="the native stack of 4010: sudo forkhang 4010",
    )


def _idle_worker(pid: int, *, reads: bool) -> Process:
    wait = Wait(WaitKind.PIPE_READ if reads else WaitKind.SEMAPHORE, Told.KERNEL, private=False, timeout=False)
    stack = python(("get", STDLIB + "multiprocessing/queues.py", 94), ("load", "/home/ada/work/train.py", 15))
    return Process(
        pid,
        1680,
        "python train.py",
        python="3.8.18",
        forked=True,
        threads=(Thread(140, pid, name="MainThread", python=stack, wait=wait),),
    )


def renamed(diagnosis: Diagnosis, name: str) -> Diagnosis:
    """The same with this name for each function and file of the finding's thread, and for the thread."""
    finding = diagnosis.findings[0]
    thread = replace(
        finding.thread,
        name=name,
        python=tuple(replace(frame, function=name, file=name) for frame in finding.thread.python),
        native=tuple(replace(frame, function=name, module=name) for frame in finding.thread.native),
    )
    processes = tuple(
        replace(process, threads=tuple(thread if one == finding.thread else one for one in process.threads))
        for process in diagnosis.dump.processes
    )
    return replace(
        diagnosis,
        findings=(replace(finding, thread=thread), *diagnosis.findings[1:]),
        dump=replace(diagnosis.dump, processes=processes),
    )


SAMPLES = {
    "gh_112275": gh_112275,
    "pthread_mutex": pthread_mutex,
    "idle_pool": idle_pool,
    "inconclusive": inconclusive,
}

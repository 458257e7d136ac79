"""Same process, same thread, both columns; what is on no live task is a ghost."""

from __future__ import annotations

from forkhang_ipy.formats.join import join
from forkhang_ipy.model import Dump, Frame, Process, Sample, Thread

HIGH = 0x7F3DC80D4000
IDENT = 0x7F3DC80D36C0
MAIN_STACK = (0x7FFD00000000, 0x7FFD00021000)
PYTHON = (Frame("work", "train.py", 5),)
NATIVE = (Frame("futex_wait", module="libc.so.6"),)


def one(*processes: Process) -> Dump:
    return Dump(processes=processes)


def test_a_pthread_id_joins_the_task_whose_stack_it_lies_in_even_if_the_tid_is_the_parents() -> None:
    kernel = Process(20, parent=10, tasks=(20,), threads=(Thread(tid=20, stack=(HIGH - 0x800000, HIGH), ghost=False),))
    py_spy = Process(20, threads=(Thread(ident=IDENT, tid=11, name="worker", python=PYTHON),))
    libdw = Process(20, threads=(Thread(tid=20, native=NATIVE),))
    assert join([one(kernel), one(libdw), one(py_spy)]).processes[0].threads == (
        Thread(
            ident=IDENT, tid=20, name="worker", python=PYTHON, native=NATIVE, ghost=False, stack=(HIGH - 0x800000, HIGH)
        ),
    )


def test_the_parents_tid_leads_to_the_childs_task_with_the_same_stack() -> None:
    parent = Process(
        10, tasks=(10,), threads=(Thread(ident=1, tid=10, name="MainThread", python=PYTHON, stack=MAIN_STACK),)
    )
    child = Process(20, parent=10, tasks=(20,), threads=(Thread(tid=20, name="python", stack=MAIN_STACK),))
    pystack = Process(20, threads=(Thread(tid=10, python=PYTHON),))
    joined = join([one(parent), one(child), one(pystack)]).process(20)
    assert joined is not None
    assert [(thread.tid, thread.name, thread.python, thread.ghost) for thread in joined.threads] == [
        (20, "MainThread", PYTHON, False)
    ]


def test_a_python_thread_on_no_live_task_is_a_ghost() -> None:
    kernel = Process(20, parent=10, tasks=(20,), threads=(Thread(tid=20, ghost=False),))
    py_spy = Process(20, threads=(Thread(ident=IDENT, tid=11, name="pin_memory", python=PYTHON),))
    ghosts = [thread for thread in join([one(kernel), one(py_spy)]).processes[0].threads if thread.ghost]
    assert ghosts == [Thread(ident=IDENT, tid=11, name="pin_memory", python=PYTHON, ghost=True)]


def test_without_a_list_of_live_tasks_nothing_is_called_a_ghost() -> None:
    dump = join([one(Process(20, threads=(Thread(ident=IDENT, python=PYTHON),)))])
    assert [thread.ghost for thread in dump.processes[0].threads] == [None]


def test_looks_at_one_task_become_its_samples_in_order() -> None:
    parts = [
        one(Process(20, tasks=(20,), threads=(Thread(tid=20, samples=(Sample(1, cpu_ticks=7),)),))),
        one(Process(20, tasks=(20,), threads=(Thread(tid=20, samples=(Sample(0, cpu_ticks=5),)),))),
        one(Process(20, threads=(Thread(tid=20, native=NATIVE, samples=(Sample(1, native=NATIVE),)),))),
    ]
    assert join(parts).processes[0].threads[0].samples == (
        Sample(0, cpu_ticks=5),
        Sample(1, cpu_ticks=7, native=NATIVE),
    )


def test_a_part_without_a_pid_belongs_to_the_process_that_has_its_threads() -> None:
    gdb = one(Process(None, tasks=(20, 21), threads=(Thread(tid=21, native=NATIVE), Thread(tid=20))))
    known = one(Process(20, command="python train.py"))
    assert [(process.pid, process.command) for process in join([known, gdb]).processes] == [(20, "python train.py")]


def test_joining_nothing_is_an_empty_dump() -> None:
    assert join([]) == Dump()

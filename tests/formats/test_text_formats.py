"""What a debugger printed becomes facts; what nobody can read is kept."""

from __future__ import annotations

from forkhang_ipy import formats
from forkhang_ipy.model import Dump, Frame, Process, Thread, Told, Wait, WaitKind

PY_SPY = """\
Process 4242: python train.py --epochs 3
Python v3.11.7 (/opt/py/bin/python3.11)

Thread 4242 (active+gil): "MainThread"
    do_fork (train.py:11)
        Arguments:
            n: 3
        Locals:
            q: <Queue at 0x7f00aa112233>
    <module> (train.py:13)
Thread 0x7F00AA00B6C0 (idle): "a (strange) name"
    0x7f00bb00cc00 (libc.so.6)
    PyThread_acquire_lock_timed (libpython3.11.so.1.0)
    step (native/ext.c:88)
    worker (pkg/pool.py:51)
"""

GDB = """\
[New LWP 4250]
warning: File "/x/libpython-gdb.py" auto-loading has been declined

Thread 2 (Thread 0x7f00aa00b6c0 (LWP 4250) "python3"):
#0  futex_wait (private=0, expected=2, futex_word=0x7f00dd001060 <m>) at ../sysdeps/nptl/futex-internal.h:146
#1  0x00007f00cc04a482 in ___pthread_mutex_lock (mutex=0x7f00dd001060 <m>) at ./nptl/pthread_mutex_lock.c:93
#2  0x00007f00dd00015c in atfork_child () from /w/libext.so
#3  <signal handler called>
#4  0x000055aa00000000 in ?? ()

Thread 1 (LWP 4242):
#0  0x00007f00cc001122 in std::vector<int, std::allocator<int> >::at(unsigned long) () from /usr/lib/x.so
[Inferior 1 (process 4242) detached]
"""


def test_py_spy_text_gives_processes_threads_frames_and_variables() -> None:
    main = Thread(
        tid=4242,
        name="MainThread",
        python=(
            Frame("do_fork", "train.py", 11, locals=(("n", "3"), ("q", "<Queue at 0x7f00aa112233>"))),
            Frame("<module>", "train.py", 13),
        ),
        holds_gil=True,
        active=True,
    )
    other = Thread(
        ident=0x7F00AA00B6C0,
        name="a (strange) name",
        python=(Frame("worker", "pkg/pool.py", 51),),
        native=(
            Frame(None, module="libc.so.6", address=0x7F00BB00CC00),
            Frame("PyThread_acquire_lock_timed", module="libpython3.11.so.1.0"),
            Frame("step", module="native/ext.c", line=88),
        ),
        active=False,
    )
    assert formats.parse(PY_SPY) == Dump(
        processes=(
            Process(
                4242,
                command="python train.py --epochs 3",
                executable="/opt/py/bin/python3.11",
                python="3.11.7",
                threads=(main, other),
            ),
        ),
        sources=("py-spy",),
    )


def test_gdb_gives_threads_innermost_first_with_the_futex_that_its_arguments_tell() -> None:
    worker = Thread(
        ident=0x7F00AA00B6C0,
        tid=4250,
        name="python3",
        native=(
            Frame("futex_wait", "../sysdeps/nptl/futex-internal.h", 146),
            Frame("___pthread_mutex_lock", "./nptl/pthread_mutex_lock.c", 93, address=0x7F00CC04A482),
            Frame("atfork_child", module="/w/libext.so", address=0x7F00DD00015C),
            Frame("<signal handler called>"),
            Frame(None, address=0x55AA00000000),
        ),
        wait=Wait(WaitKind.LOCK, Told.STACK, call="futex", address=0x7F00DD001060, value=2, private=True),
        ghost=False,
    )
    main = Thread(
        tid=4242,
        native=(
            Frame(
                "std::vector<int, std::allocator<int> >::at(unsigned long)",
                module="/usr/lib/x.so",
                address=0x7F00CC001122,
            ),
        ),
        ghost=False,
    )
    assert formats.parse(GDB) == Dump(
        processes=(Process(4242, tasks=(4250, 4242), threads=(worker, main)),), sources=("gdb",)
    )


def test_a_bare_backtrace_is_one_thread_of_an_unknown_process() -> None:
    dump = formats.parse("(gdb) bt\n#0  0x0000ffffa9b2b268 in do_futex_wait.constprop () from /lib/libpthread.so.0\n")
    frame = Frame("do_futex_wait.constprop", module="/lib/libpthread.so.0", address=0xFFFFA9B2B268)
    assert dump == Dump(processes=(Process(None, threads=(Thread(native=(frame,)),)),), sources=("gdb",))


def test_lines_of_no_known_format_are_kept() -> None:
    assert formats.parse("hello\n\nworld\n").unread == ("hello", "world")
    assert formats.parse(PY_SPY + "\nsomething else\n").unread == ("something else",)


def test_a_file_with_two_formats_is_read_by_both_and_joined() -> None:
    dump = formats.parse(PY_SPY + "\n" + GDB)
    assert [process.pid for process in dump.processes] == [4242]
    worker = next(thread for thread in dump.processes[0].threads if thread.tid == 4250)
    assert (worker.name, worker.python[0].function, worker.native[2].function) == (
        "a (strange) name",
        "worker",
        "atfork_child",
    ) or worker.native[1].function == "PyThread_acquire_lock_timed"
    assert dump.unread == ()

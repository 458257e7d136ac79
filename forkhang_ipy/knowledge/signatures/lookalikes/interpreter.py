"""Within one interpreter that is taken down, or interrupted in code that is not safe to enter twice."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.calls import Call
from forkhang_ipy.knowledge.cpython.interpreter import HEADLOCK_SHUTDOWN
from forkhang_ipy.knowledge.remedies import SAFE_HANDLER, SHUT_DOWN_FIRST, UPGRADE_PYTHON
from forkhang_ipy.knowledge.signatures._base import Fact, Signature
from forkhang_ipy.model import Verdict, WaitKind

HEAD_LOCK_SAME_PROCESS = Signature(
    id="head-lock-same-process",
    title="the interpreter's thread-list lock, within one process",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It wants HEAD_LOCK where a thread or the interpreter is taken down: no fork is in play.",
    fooled_by="The same lock between PyOS_AfterFork_Child and _PyThreadState_DeleteExcept.",
    native=(
        (Call(r"_?PyThreadState_DeleteCurrent|local_clear|tstate_delete_common|new_threadstate|PyThreadState_Clear"),),
        (Call(r"sys__current_frames\w*|_PyThread_CurrentFrames"),),
    ),
    never=(Call("PyOS_AfterFork_Child"), Call(r"PyGILState_Ensure")),
    bug=HEADLOCK_SHUTDOWN,
    remedies=(UPGRADE_PYTHON, SHUT_DOWN_FIRST),
)
EXECUTOR_GC_DEADLOCK = Signature(
    id="executor-gc-deadlock",
    title="the shutdown lock of an executor, in a finaliser",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="A weak reference's callback of concurrent.futures runs in the middle of the executor's own code.",
    fooled_by="An executor that only waits for its workers.",
    anywhere=((Call(r"(.*\.)?weakref_cb", r"concurrent/futures/"),),),
    remedies=(UPGRADE_PYTHON, SHUT_DOWN_FIRST),
)
REENTRANCY_OF_SIGNAL = Signature(
    id="signal-reentrancy",
    title="a lock that the thread itself holds, in code that a signal handler interrupted",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="A signal handler calls the very code that it interrupted, and so waits for itself.",
    fooled_by="The same lock in a forked child that entered the code once.",
    waits=(WaitKind.LOCK,),
    anywhere=((Call(r".*[sS]ignal.*|on_?sig.*|(.*\.)?handler|sig_?handler.*|<signal handler called>"), Call(None)),),
    needs=(frozenset({Fact.REENTERED}), frozenset({Fact.OWNER_IS_ITSELF})),
    unless=frozenset({Fact.OWNER_GONE}),
    remedies=(SAFE_HANDLER,),
)
REENTRANCY_OF_FINALISER = Signature(
    id="gc-reentrancy",
    title="a lock that the thread itself holds, in code that a finaliser interrupted",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="A finaliser calls the very code that it interrupted, and so waits for itself.",
    fooled_by="The same lock in a forked child that entered the code once.",
    waits=(WaitKind.LOCK,),
    anywhere=((Call(r"(.*\.)?(__del__|weakref_cb|_callback|gc_collect\w*|_run_finalizers)"), Call(None)),),
    needs=(frozenset({Fact.REENTERED}), frozenset({Fact.OWNER_IS_ITSELF})),
    unless=frozenset({Fact.OWNER_GONE}),
    remedies=(SAFE_HANDLER,),
)

SIGNATURES: Tuple[Signature, ...] = (
    HEAD_LOCK_SAME_PROCESS,
    EXECUTOR_GC_DEADLOCK,
    REENTRANCY_OF_SIGNAL,
    REENTRANCY_OF_FINALISER,
)

"""What interrupts a thread in the middle of its own code, and which code is not safe to enter twice. Data only."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.calls import Call

FINALISERS: Tuple[Call, ...] = (
    Call(r"(.*\.)?(__del__|weakref_cb)"),
    Call(r"(.*\.)?_callback", r"weakref\.py"),
)
"""They run between any two instructions of the thread that they interrupt."""

HANDLERS: Tuple[Call, ...] = (
    Call(r"(.*\.)?(_?on_?signal|handle_?signal|_?signal_handler|sig_?handler|handler|on_sig\w+)"),
)
"""What signal handlers are called; many an ordinary function is called so too."""

GUARDED: Tuple[Call, ...] = (
    Call(r"(.*\.)?(callHandlers|_log)", r"logging/__init__\.py"),
    Call(r"(.*\.)?put", r"(multiprocessing/queues|/queue|^queue)\.py"),
    Call(r"(.*\.)?(ensure_running|_send)", r"multiprocessing/resource_tracker\.py"),
)
"""Functions of the standard library that hold a lock while they run."""

PYTHONS_LOCKS: Tuple[Call, ...] = (
    Call(
        r"PyThread_acquire_lock\w*|acquire_timed|lock_PyThread_acquire_lock|rlock_acquire|take_gil|_PyMutex_LockTimed"
    ),
)
"""Native frames of Python's own locks; a thread without one waits for something of a library."""

LETS_HANDLERS_RUN: Tuple[Call, ...] = (*PYTHONS_LOCKS, Call(r"_PyParkingLot_Park|_PySemaphore_Wait|PyEvent_Wait\w*"))
"""Native frames of waits in which Python lets signal handlers run."""

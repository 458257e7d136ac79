"""Which native frames are the interpreter's own machinery or a vendor's, and which only wait in libc.

Names in, claims out. The names are CPython's from 3.8 to 3.14 and glibc's and musl's; what a compiler appends
(`.cold`, `.constprop.0`) does not matter. A frame that could be a place to hang is not in these tables.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Optional

from forkhang_ipy.knowledge.vendors import VENDORS
from forkhang_ipy.views.names import shown_module

if TYPE_CHECKING:
    from forkhang_ipy.model import Frame

_TAIL = r"(?:\.[\w.]+|@.*)?$"

EVALUATION = re.compile(r"_PyEval_EvalFrameDefault" + _TAIL)
"""Runs Python frames; its wrappers (`PyEval_EvalFrameEx`) are not counted twice."""

INTERPRETER = re.compile(
    r"(?:_?PyEval_(?:EvalFrame\w*|EvalCode\w*|Vector)"
    r"|_TAIL_CALL_\w+"
    r"|_?Py(?:Function|Object|Vectorcall|Method|MethodDef|Cell|Arg|Type|CFunction)_?\w*(?:[Cc]all|FastCall)\w*"
    r"|_?PyVectorcall_\w+|_PyObject_\w+|_PyFunction_\w+"
    r"|cfunction_\w+|method_vectorcall\w*|method_call|methoddescr_\w+|wrap_\w+|wrapperdescr_\w+|wrapper_call"
    r"|classmethoddescr_\w+|partial_(?:vectorcall|call)\w*|function_code_fastcall|_?call_(?:function|method|attribute)"
    r"|do_call_core|object_vacall|vectorcall\w*|slot_tp_\w+|slot_mp_\w+|slot_sq_\w+|type_(?:call|vectorcall|new)\w*"
    r"|gen_(?:send|iternext)\w*|builtin_exec\w*|builtin___(?:import|build_class)__\w*|PyImport_\w+|import_(?:name|find)\w*"
    r"|run_(?:mod|eval_code_obj)|_?pyrun_\w+|_?PyRun_\w+|pymain_\w+|Py_(?:RunMain|BytesMain|Main)|main"
    r"|_run_code|thread_run|t_bootstrap|pythread_wrapper|start_thread|__?clone\d?|clone3?"
    r"|__libc_start\w*|call_init|_start)" + _TAIL
)

LIBC_WAIT = re.compile(
    r"(?:(?:__GI_+|__libc_|__new_|___?)?"
    r"(?:futex\w*|do_futex_wait|sem_wait\w*|sem_timedwait\w*|sem_clockwait\w*|lll_lock\w*|pthread_\w+|syscall"
    r"|wait4|waitpid|waitid|read|write|poll|ppoll|select|pselect|epoll_\w*wait\w*|recv\w*|nanosleep|clock_nanosleep\w*)"
    r"|__futex\w*|__lll_\w+|__internal_syscall\w*|__syscall\w*)" + _TAIL
)


def evaluates(frame: Frame) -> bool:
    """The frame is an entry of the interpreter's evaluation loop."""
    return frame.function is not None and EVALUATION.match(frame.function) is not None


def belongs_to_interpreter(frame: Frame) -> bool:
    """The frame is machinery between two Python frames, or has no name and lies in Python's own binary."""
    if frame.function is None:
        return frame.module is not None and shown_module(frame.module).startswith(("python", "libpython"))
    return INTERPRETER.match(frame.function) is not None


def vendor(frame: Frame) -> Optional[str]:
    """Whose accelerator software the frame belongs to; None for everybody else's."""
    module = (frame.module or "").replace("\\", "/")
    return next((maker.name for maker in VENDORS if re.search(maker.library, module)), None)


def waits_in_libc(frame: Frame) -> bool:
    """The frame is a wait of the C library's, not the function that wanted to wait."""
    return frame.function is not None and LIBC_WAIT.match(frame.function) is not None

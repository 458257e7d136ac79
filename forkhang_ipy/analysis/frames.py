"""Questions about frames: is it the user's own, is it only waiting, does it match a pattern."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Optional, Sequence

from forkhang_ipy.knowledge.calls import Call
from forkhang_ipy.model import Frame

INSTALLED = re.compile(
    r"/lib(?:64)?/python[\d.]+/|/(?:site|dist)-packages/|^<frozen |\.zip/|^<(?!stdin|ipython|string)"
)
STANDARD = re.compile(
    r"^(?:multiprocessing|concurrent|asyncio|importlib|logging|threading|subprocess|queue|runpy|socket|selectors|ssl"
    r"|contextlib|functools|random|tempfile|unittest|signal|weakref|os|pty|select)(?:/[\w/]+)?\.py$"
)
PLUMBING_MODULE = re.compile(
    r"(?:^|/)(?:libc|libpthread|ld-linux|ld-musl|ld|linux-vdso|libsystem_(?:kernel|pthread|c))[-.][^/]*$|^\[vdso\]$"
)
PLUMBING_FUNCTION = re.compile(
    r"(?:PyThread_acquire_lock\w*|acquire_timed|_PyMutex_LockTimed|PyMutex_Lock|_PySemaphore_\w+|_PyParkingLot_Park"
    r"|(?:__)?(?:GI_)?_*(?:futex_\w+|sem_\w+|new_sem_\w+|lll_lock_\w+|pthread_\w+|do_futex_wait|futex_abstimed_wait_common\w*"
    r"|sched_yield|syscall|psynch_\w+|umtx_op|nanosleep|clock_nanosleep|wait4|waitpid|read|write|poll|ppoll|select|epoll_wait))"
    r"(?:\.constprop\.\d+|\.isra\.\d+|\.part\.\d+)*"
)


def is_users_own(frame: Frame) -> bool:
    """Whether a Python frame belongs to the user's program, not to an installed library or the interpreter."""
    file = (frame.file or "").replace("\\", "/")
    return bool(file) and not INSTALLED.search(file) and not STANDARD.match(file)


def is_standard(frame: Frame) -> bool:
    """Whether a Python frame belongs to the standard library or the interpreter."""
    file = (frame.file or "").replace("\\", "/")
    installed = bool(INSTALLED.search(file)) and not re.search(r"/(?:site|dist)-packages/", file)
    return installed or bool(STANDARD.match(file))


def is_plumbing(frame: Frame) -> bool:
    """Whether a native frame only carries out a wait, whatever it is that is waited for."""
    if frame.module and PLUMBING_MODULE.search(frame.module):
        return True
    return frame.function is not None and bool(PLUMBING_FUNCTION.fullmatch(frame.function))


def matches(call: Call, frame: Frame) -> bool:
    """Whether a frame is the one that a pattern describes."""
    return (
        (call.function is None or bool(_compiled(call.function).fullmatch(frame.function or "")))
        and (call.file is None or bool(_compiled(call.file).search((frame.file or "").replace("\\", "/"))))
        and (call.module is None or bool(_compiled(call.module).search(frame.module or "")))
        and (call.source is None or bool(_compiled(call.source).search(frame.source or "")))
    )


def innermost_python(frames: Sequence[Frame]) -> Sequence[Frame]:
    """The Python column without the built-in functions that gdb prints as frames of their own."""
    return [frame for frame in frames if not (frame.function or "").startswith("<built-in ")] or frames


def first_of_users(frames: Sequence[Frame]) -> Optional[Frame]:
    """The innermost frame of the user's own program, or None."""
    return next((frame for frame in frames if is_users_own(frame)), None)


@lru_cache(maxsize=None)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)

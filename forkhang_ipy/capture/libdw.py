"""A pid in, the native stack of each live task out, as bare addresses; later, names for them. By ctypes, through libdw.

The library is the system's, or else the copy in the pystack wheel. It attaches to one task after the other, each for
a fraction of a millisecond. ptrace binds to the thread: a stack is taken and let go on one and the same thread.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from ctypes import CFUNCTYPE, POINTER, c_bool, c_char_p, c_int, c_uint32, c_uint64, c_void_p
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

from forkhang_ipy.capture import proc_files
from forkhang_ipy.capture.sources import SourceFailed

FRAMES = 256
"""The most frames that are taken of one stack, from the innermost."""

_NEEDED = ("libz", "liblzma", "libbz2", "libzstd", "libelf")
_GO_ON, _ENOUGH = 0, 1
_NO_FILE = -1
_NOT_STOPPED_YET = False
_INSTALL = "Install libdw (Debian: libdw1, Fedora: elfutils-libs) or the wheel pystack, which carries a copy."

_FIND_ELF = CFUNCTYPE(c_int, c_void_p, c_void_p, c_char_p, c_uint64, POINTER(c_char_p), c_void_p)
_FIND_DEBUGINFO = CFUNCTYPE(c_int, c_void_p, c_void_p, c_char_p, c_uint64, c_char_p, c_char_p, c_uint32, c_void_p)
_EACH = CFUNCTYPE(c_int, c_void_p, c_void_p)


class _Callbacks(ctypes.Structure):
    """`Dwfl_Callbacks` of libdwfl.h."""

    _fields_ = (
        ("find_elf", _FIND_ELF),
        ("find_debuginfo", _FIND_DEBUGINFO),
        ("section_address", c_void_p),
        ("debuginfo_path", c_void_p),
    )


# name: (result, arguments), of elfutils/libdwfl.h
_PROTOTYPES = {
    "dwfl_begin": (c_void_p, (POINTER(_Callbacks),)),
    "dwfl_report_begin": (None, (c_void_p,)),
    "dwfl_linux_proc_report": (c_int, (c_void_p, c_int)),
    "dwfl_report_end": (c_int, (c_void_p, c_void_p, c_void_p)),
    "dwfl_linux_proc_attach": (c_int, (c_void_p, c_int, c_bool)),
    "dwfl_linux_proc_find_elf": (c_int, (c_void_p, c_void_p, c_char_p, c_uint64, POINTER(c_char_p), c_void_p)),
    "dwfl_getthreads": (c_int, (c_void_p, _EACH, c_void_p)),
    "dwfl_thread_tid": (c_int, (c_void_p,)),
    "dwfl_thread_getframes": (c_int, (c_void_p, _EACH, c_void_p)),
    "dwfl_frame_pc": (c_bool, (c_void_p, POINTER(c_uint64), POINTER(c_bool))),
    "dwfl_addrmodule": (c_void_p, (c_void_p, c_uint64)),
    "dwfl_module_info": (c_char_p, (c_void_p, c_void_p, POINTER(c_uint64), *(c_void_p,) * 5)),
    "dwfl_module_build_id": (c_int, (c_void_p, POINTER(POINTER(ctypes.c_ubyte)), POINTER(c_uint64))),
    "dwfl_module_addrname": (c_char_p, (c_void_p, c_uint64)),
    "dwfl_end": (None, (c_void_p,)),
    "dwfl_errmsg": (c_char_p, (c_int,)),
}


@lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The system's library or the one in the pystack wheel; SourceFailed where there is neither."""
    for load in (of_system, of_wheel):
        with suppress(OSError, AttributeError):
            return load()
    raise SourceFailed("there is no libdw here", _INSTALL)


def of_system() -> ctypes.CDLL:
    """The library that the dynamic linker finds; OSError where there is none, AttributeError where it is too old."""
    return _prototyped(ctypes.CDLL("libdw.so.1"))


def of_wheel() -> ctypes.CDLL:
    """The copy that the pystack wheel carries; OSError where that is not installed or does not fit."""
    spec = find_spec("pystack")
    folder = Path(spec.origin).parent.with_name("pystack.libs") if spec and spec.origin else Path()
    # Not every copy knows the way to its own needs: they are loaded first, and then found by their names.
    for needed in _NEEDED:
        for library_path in folder.glob(f"{needed}-*.so*"):
            ctypes.CDLL(str(library_path), mode=ctypes.RTLD_GLOBAL)
    copies = [str(path) for path in folder.glob("libdw-*.so*")]
    if not copies:
        raise FileNotFoundError(folder)
    return _prototyped(ctypes.CDLL(copies[0]))


def _prototyped(loaded: ctypes.CDLL) -> ctypes.CDLL:
    """The same library with the types of its functions set; AttributeError where it is too old to have them all."""
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


class Session:
    """One process as libdw knows it: `unwind` touches it, `module` and `name` no longer do. To be closed."""

    def __init__(self, pid: int, libdw: Optional[ctypes.CDLL] = None) -> None:
        """Raise SourceFailed where the process cannot be read."""
        self._libdw = libdw or library()
        self._pid = pid
        # The library keeps only pointers to these: they must live as long as it uses them.
        self._callbacks = _Callbacks(_FIND_ELF(self._find_elf), _FIND_DEBUGINFO(self._find_debuginfo))
        self._dwfl = self._libdw.dwfl_begin(ctypes.byref(self._callbacks))
        self._libdw.dwfl_report_begin(self._dwfl)
        reported = self._libdw.dwfl_linux_proc_report(self._dwfl, pid)
        self._libdw.dwfl_report_end(self._dwfl, None, None)
        result = reported or self._libdw.dwfl_linux_proc_attach(self._dwfl, pid, _NOT_STOPPED_YET)
        if result:
            self.close()
            raise SourceFailed(f"libdw: {self._message(result)}", _INSTALL)

    def close(self) -> None:
        """Give the library its memory and files back."""
        self._libdw.dwfl_end(self._dwfl)

    def unwind(self) -> Dict[int, List[Tuple[int, int]]]:
        """For each live task the frames, innermost first: program counter, and the address that tells its function."""
        stacks: Dict[int, List[Tuple[int, int]]] = {}
        frames: List[Tuple[int, int]] = []

        def each_frame(state: int, _: int) -> int:
            pc, activation = c_uint64(), c_bool()
            if not self._libdw.dwfl_frame_pc(state, ctypes.byref(pc), ctypes.byref(activation)):
                return _ENOUGH
            # A return address is that of the next instruction, which may belong to the next function.
            frames.append((pc.value, pc.value - (not activation.value)))
            return _ENOUGH if len(frames) == FRAMES else _GO_ON

        def each_thread(thread: int, _: int) -> int:
            nonlocal frames
            frames = stacks.setdefault(self._libdw.dwfl_thread_tid(thread), [])
            self._libdw.dwfl_thread_getframes(thread, frame_callback, None)
            return _GO_ON

        frame_callback = _EACH(each_frame)
        self._libdw.dwfl_getthreads(self._dwfl, _EACH(each_thread), None)
        if not any(stacks.values()):
            raise SourceFailed(f"libdw: {self._message(-1)}", "See what `forkhang doctor` says of this process.")
        return stacks

    def module(self, address: int) -> Optional[Tuple[str, int]]:
        """Path and start of the library or program at this address."""
        module = self._libdw.dwfl_addrmodule(self._dwfl, address)
        if not module:
            return None
        start = c_uint64()
        name = self._libdw.dwfl_module_info(module, None, ctypes.byref(start), *(None,) * 5)
        # The kernel's own page, which libdw calls "[vdso: 1234]".
        path = os.fsdecode(name) if name else ""
        return ("[vdso]" if path.startswith("[vdso") else path), start.value

    def name(self, address: int) -> Optional[str]:
        """The symbol at this address, as the linker knows it; the first one of each file is dear."""
        module = self._libdw.dwfl_addrmodule(self._dwfl, address)
        name = self._libdw.dwfl_module_addrname(module, address) if module else None
        # A symbol table may add the version: `pthread_spin_lock@@GLIBC_2.34`.
        return name.decode("utf-8", "replace").partition("@")[0] if name else None

    def _message(self, result: int) -> str:
        """What -1, an error of libdw's own, or else an errno means."""
        if result > 0:
            return os.strerror(result)
        message = self._libdw.dwfl_errmsg(-1)
        return message.decode("utf-8", "replace") if message else "no stack could be unwound"

    def _find_elf(self, module: int, data: int, name: bytes, base: int, *results: object) -> int:
        """Open the file as the process itself sees it: in a container our own path leads elsewhere."""
        for path in self._ways_to(os.fsdecode(name), base):
            descriptor = _open(path)
            if descriptor != _NO_FILE:
                return descriptor
        # What is no file: the kernel's own page.
        return int(self._libdw.dwfl_linux_proc_find_elf(module, data, name, base, *results))

    def _ways_to(self, name: str, base: int) -> Iterator[str]:
        folder = proc_files.PROC / str(self._pid)
        if name.startswith("/") and name.endswith(" (deleted)"):
            yield from (str(path) for path in (folder / "map_files").glob(f"{base:x}-*"))
        elif name.startswith("/"):
            yield f"{folder}/root{name}"

    def _find_debuginfo(self, module: int, *_: object) -> int:
        """Open the separate debug file that fits by build id, if it is installed. The network is never asked."""
        bits, address = POINTER(ctypes.c_ubyte)(), c_uint64()
        length = self._libdw.dwfl_module_build_id(module, ctypes.byref(bits), ctypes.byref(address))
        build_id = bytes(bits[:length]).hex() if length > 0 else ""
        return _open(f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug") if build_id else _NO_FILE


def _open(path: str) -> int:
    """A descriptor of the regular file at this path, or -1: a device may do anything when it is opened."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC) if Path(path).is_file() else _NO_FILE
    except OSError:
        return _NO_FILE

"""Addresses of many processes in, names out. Each place in a file is named once, whoever maps the file.

The first name of a file is dear (torch: 0.6 s), so that forked workers, who map the same files, must share them.
"""

from __future__ import annotations

import ctypes
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Dict, Iterable, List, Optional, Tuple

from forkhang_ipy.capture import proc_files

if TYPE_CHECKING:
    from forkhang_ipy.capture.libdw import Session

Place = Tuple[Optional[str], str, int]
"""Mount namespace, path and offset in the file."""


class Names:
    """Places are noted while processes are looked at (`note`), and named when all have been let go (`find`)."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._names: Dict[Place, Optional[str]] = {}
        self._open: List[Tuple[Session, Dict[Place, int]]] = []

    def note(self, pid: int, session: Session, addresses: Iterable[int]) -> Dict[int, Place]:
        """Where each address lies; those in no file are left out. The session is closed here, now or by `find`."""
        namespace = proc_files.link(proc_files.PROC / str(pid) / "ns" / "mnt")
        places: Dict[int, Place] = {}
        for address in set(addresses):
            module = session.module(address)
            if module:
                places[address] = (namespace, module[0], address - module[1])
        new = {place: address for address, place in places.items() if place not in self._names}
        self._names.update(dict.fromkeys(new))
        if new:
            self._open.append((session, new))
        else:
            session.close()
        return places

    def find(self, seconds: float) -> bool:
        """Name all places, demangled; False when the time was not enough for every one of them."""
        deadline = time.monotonic() + seconds
        complete = True
        for session, places in self._open:
            for place, address in places.items():
                complete = complete and time.monotonic() < deadline
                if complete:
                    self._names[place] = demangled(session.name(address))
            session.close()
        self._open.clear()
        return complete

    def name(self, place: Place) -> Optional[str]:
        """The name of a place that was noted before."""
        return self._names.get(place)


@lru_cache(maxsize=None)
def demangled(name: Optional[str]) -> Optional[str]:
    """A C++ name as it was written, where the C++ library is at hand; any other name as it is."""
    library = _cplusplus() if name and name.startswith("_Z") else None
    if not name or not library:
        return name
    status = ctypes.c_int()
    demangle = library["__cxa_demangle"]
    demangle.restype = ctypes.c_void_p
    text = demangle(name.encode(), None, None, ctypes.byref(status))
    if not text:
        return name
    try:
        return ctypes.string_at(text).decode("utf-8", "replace")
    finally:
        library.free(ctypes.c_void_p(text))


@lru_cache(maxsize=None)
def _cplusplus() -> Optional[ctypes.CDLL]:
    try:
        return ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return None

"""A process and its system calls in, out: the pipes and sockets that its tasks wait for, in read, write and poll."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Callable, Dict, Iterator, List, Tuple

from forkhang_ipy.capture import proc_files, syscalls

if TYPE_CHECKING:
    from forkhang_ipy.capture.address_space import AddressSpace
    from forkhang_ipy.capture.procfs import ProcRecord

_MOST = 1024
"""Descriptors in one call; nobody waits by hand for more."""
_POLLFD = struct.Struct("<iHH")
_WATCHED = re.compile(r"^tfd: *(?P<descriptor>\d+)", re.MULTILINE)


def waited_for(space: AddressSpace, look: ProcRecord) -> Iterator[Tuple[str, int]]:
    """Each pipe or socket (`pipe:[8123]`) with the TID that waits for it."""
    for call in syscalls.calls(look):
        read = _BY_NAME.get(call.name)
        for descriptor in read(space, call) if read else ():
            name = look["files"].get(str(descriptor))
            if name:
                yield without_end(name), call.task["tid"]


def without_end(name: str) -> str:
    """`pipe:[8123]` for `pipe:[8123]:r`."""
    return name if name.startswith("socket:") else name.rpartition(":")[0]


def _first(_: AddressSpace, call: syscalls.Call) -> List[int]:
    return [call.arguments[0]]


def _polled(space: AddressSpace, call: syscalls.Call) -> List[int]:
    """The array of `struct pollfd`."""
    address, count = call.arguments[:2]
    content = space.read(address, min(count, _MOST) * _POLLFD.size)
    whole = content[: len(content) // _POLLFD.size * _POLLFD.size]
    return [descriptor for descriptor, _, _ in _POLLFD.iter_unpack(whole)]


def _selected(space: AddressSpace, call: syscalls.Call) -> List[int]:
    """The bits of the two `fd_set`s: those to be read, and those to be written."""
    count = min(call.arguments[0], _MOST)
    size = (count + 7) // 8
    sets = [int.from_bytes(space.read(address, size), "little") for address in call.arguments[1:3] if address]
    return [descriptor for descriptor in range(count) if any(bits >> descriptor & 1 for bits in sets)]


def _watched(space: AddressSpace, call: syscalls.Call) -> List[int]:
    """What the kernel says that this epoll watches."""
    text = proc_files.text(space.folder / "fdinfo" / str(call.arguments[0])) or ""
    return [int(match["descriptor"]) for match in _WATCHED.finditer(text)]


_BY_NAME: Dict[str, Callable[[AddressSpace, syscalls.Call], List[int]]] = {
    **dict.fromkeys(("read", "readv", "recvfrom", "recvmsg", "write", "writev", "sendto", "sendmsg"), _first),
    **dict.fromkeys(("poll", "ppoll"), _polled),
    **dict.fromkeys(("select", "pselect6"), _selected),
    **dict.fromkeys(("epoll_wait", "epoll_pwait"), _watched),
}

"""Lock objects in, out: what the Python program calls them, and for an import lock its module and owner.

A dict that refers to the lock has the key just before: the variable or attribute. importlib's `_ModuleLock` keeps, in
this order, lock, wakeup, name, owner: a thread waits for `wakeup`, and `owner` is the pthread id of the importing one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterator, Optional, Sequence, Set, Tuple

from forkhang_ipy.capture import search
from forkhang_ipy.capture.address_space import POINTER

if TYPE_CHECKING:
    from forkhang_ipy.capture.address_space import AddressSpace
    from forkhang_ipy.capture.python_objects import Objects
    from forkhang_ipy.capture.sources import Limits

LOCKS = frozenset({"_thread.lock", "_thread.RLock"})

_HASH = 24
"""Where a str keeps its hash."""


@dataclass(frozen=True)
class Reference:
    """What one place that refers to a lock says of it."""

    variable: Optional[str] = None
    module: Optional[str] = None
    owner: Optional[int] = None


def find(
    objects: Objects,
    space: AddressSpace,
    locks: Set[int],
    where: Sequence[search.Region],
    means: Tuple[search.Effort, Limits],
) -> Iterator[Tuple[int, int]]:
    """The address of each lock, with the first place that refers to it and says something of it."""
    wanted = set(locks)
    for lock, at in search.find(space, wanted, where, *means):
        if lock in wanted and reference(objects, space, at) != Reference():
            wanted.discard(lock)
            yield lock, at


def reference(objects: Objects, space: AddressSpace, at: int) -> Reference:
    """What this place, which refers to a lock, says of it."""
    before, name, owner = (space.pointer(at + POINTER.size * place) for place in (-1, 1, 2))
    module = objects.text(name) if name and before and objects.type(before) in LOCKS else None
    if module:
        return Reference(module=module, owner=objects.number(owner) if owner else None)
    return Reference(variable=_key(objects, space, at))


def _key(objects: Objects, space: AddressSpace, at: int) -> Optional[str]:
    """The identifier whose value in a dict is here.

    An entry is hash, key, value; from 3.11 on only key, value where all keys are str. As two pointers side by side are
    common, the neighbours must be such entries too: the first and the last of a dict stay without a name.
    """
    key, before_key = (space.pointer(at - POINTER.size * place) for place in (1, 2))
    text = _identifier(objects, key)
    if not key or not text:
        return None
    if before_key == space.pointer(key + _HASH):
        return text
    neighbours = (space.pointer(at + POINTER.size * place) for place in (-3, 1))
    return text if all(_identifier(objects, neighbour) for neighbour in neighbours) else None


def _identifier(objects: Objects, address: Optional[int]) -> Optional[str]:
    text = objects.text(address) if address else None
    return text if text and text.isidentifier() else None

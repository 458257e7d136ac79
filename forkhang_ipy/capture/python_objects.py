"""An address in a CPython process in, the object that is there out: its type's name, a str's text, an int's value.

What is read may be any bytes at all: an object is believed only if its type is a type, and that one's type too. The
layouts are those of Include/cpython/object.h, unicodeobject.h and longintrepr.h of 3.8 to 3.14, default builds.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Optional

from forkhang_ipy.capture import python_version
from forkhang_ipy.capture.address_space import POINTER

if TYPE_CHECKING:
    from forkhang_ipy.capture.address_space import AddressSpace

STR, INT = "str", "int"

_ALIGNMENT = 16
_REACH = 256
"""No object that holds a lock begins further before its pointer to it."""
_HEAD = struct.Struct("<QQ")
_TYPE = struct.Struct("<QQQQQ")
"""refcount, type, size, tp_name, tp_basicsize"""
_LONGEST_NAME = 128
_NAME = re.compile(rb"[A-Za-z_][\x21-\x7e]*\Z")
_META_LEVELS = 3
"""A class's type is `type`, or a metaclass whose type is `type`, whose type is `type`."""
_STR = struct.Struct("<QQQ")
_LONGEST_STR = 256
_TEXT = re.compile(rb"[\x20-\x7e]+\Z")
_NEW_LAYOUT = (3, 12)
_INT = struct.Struct("<QQQII")
_DIGIT_BITS = 30
_DIGITS = 2


@dataclass(frozen=True)
class Type:
    """A Python type."""

    name: str
    """As `tp_name` has it: `_thread.RLock`."""
    size: int


@dataclass(frozen=True)
class Enclosing:
    """An object that a place in memory belongs to."""

    address: int
    type: str


class Objects:
    """The objects of one process; types are remembered."""

    def __init__(self, space: AddressSpace, version: Optional[str]) -> None:
        self._space = space
        self._new_layout = python_version.minor(version) >= _NEW_LAYOUT
        self._types: Dict[int, Optional[Type]] = {}

    def enclosing(self, place: int) -> Optional[Enclosing]:
        """The nearest object that begins before this place and reaches beyond it."""
        low = place - _REACH
        content = self._space.read(low, _REACH)
        for at in range(len(content) - _HEAD.size, -1, -POINTER.size):
            address = low + at
            refcount, type_address = _HEAD.unpack_from(content, at)
            if address % _ALIGNMENT or not refcount or self._space.mapping(refcount):
                continue
            kind = self._type(type_address)
            if kind and place - address + POINTER.size <= kind.size:
                return Enclosing(address, kind.name)
        return None

    def type(self, address: int) -> Optional[str]:
        """The name of the type of the object at this address; None where there is no object."""
        pointer = self._space.pointer(address + POINTER.size)
        kind = self._type(pointer) if pointer else None
        return kind.name if kind else None

    def text(self, address: int) -> Optional[str]:
        """The text of an ASCII str."""
        content = self._space.read(address, _STR.size)
        length = _STR.unpack(content)[2] if len(content) == _STR.size else 0
        if not 0 < length <= _LONGEST_STR or self.type(address) != STR:
            return None
        text = self._space.read(address + (40 if self._new_layout else 48), length)
        return text.decode("ascii") if _TEXT.match(text) else None

    def number(self, address: int) -> Optional[int]:
        """The value of a positive int of at most two digits (60 bits), such as a pthread id."""
        content = self._space.read(address, _INT.size)
        if len(content) < _INT.size or self.type(address) != INT:
            return None
        _, _, size, *digits = _INT.unpack(content)
        # From 3.12 on the lowest bits are sign (0: positive) and a flag, and the number of digits is above them.
        count, is_positive = (size >> 3, not size & 3) if self._new_layout else (size, True)
        if not is_positive or not 0 < count <= _DIGITS:
            return None
        return sum(int(digit) << (_DIGIT_BITS * place) for place, digit in enumerate(digits[:count]))

    def _type(self, address: int, levels: int = _META_LEVELS) -> Optional[Type]:
        if address not in self._types:
            self._types[address] = self._read_type(address, levels)
        return self._types[address]

    def _read_type(self, address: int, levels: int) -> Optional[Type]:
        is_place = address % POINTER.size == 0 and self._space.mapping(address) is not None
        content = self._space.read(address, _TYPE.size) if is_place else b""
        if len(content) < _TYPE.size or not levels:
            return None
        _, meta, _, name, size = _TYPE.unpack(content)
        is_type = meta == address or self._type(meta, levels - 1) is not None
        text = self._name(name) if is_type else None
        return Type(text, size) if text else None

    def _name(self, address: int) -> Optional[str]:
        text, end, _ = self._space.read(address, _LONGEST_NAME).partition(b"\0")
        return text.decode("ascii") if end and _NAME.match(text) else None

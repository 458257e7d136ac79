"""The variables of libraries are known by file and name; what lies behind them is not theirs."""

from __future__ import annotations

import ctypes
import sysconfig
from pathlib import Path

import pytest

from forkhang_ipy.capture import elf
from forkhang_ipy.capture.address_space import opened

OURSELVES = Path("/proc/self")


def address(variable: str) -> int:
    return ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, variable))


@pytest.mark.parametrize("variable", ["_PyRuntime", "PyLong_Type", "_Py_NoneStruct", "Py_OptimizeFlag"])
def test_an_exported_variable_is_known_by_name_wherever_one_looks_in_it(variable: str) -> None:
    with opened(OURSELVES) as space:
        images = elf.Images(space)
        image = images.at(address(variable))
        assert image is not None
        assert Path(image).name.startswith(("libpython", "python"))
        assert images.variable(image, address(variable)) == elf.Variable(variable, 0)
        assert images.variable(image, address(variable) + 3) == elf.Variable(variable, 3)


def test_an_object_of_the_heap_is_no_librarys() -> None:
    with opened(OURSELVES) as space:
        assert elf.Images(space).at(id(object())) is None


def test_a_file_that_is_no_library_has_no_variables() -> None:
    path = Path(sysconfig.get_path("stdlib")) / "os.py"
    with opened(OURSELVES) as space:
        images = elf.Images(space)
        images._first[str(path)] = space.mappings[0]  # noqa: SLF001
        assert images.variable(str(path), space.mappings[0].low) is None

"""The kernel's line of a task becomes a wait."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkhang_ipy.formats.kernel import NUMBERS, wait_of
from forkhang_ipy.model import Told, Wait, WaitKind

K = Told.KERNEL
LOCK = "0x7f6a3c000b70 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd5f0f3a40 0x7f6a4a0ad117"


@pytest.mark.parametrize(("machine", "number"), [("x86_64", 202), ("aarch64", 98)])
def test_a_private_futex_without_timeout_is_a_lock_for_ever(machine: str, number: int) -> None:
    expected = Wait(WaitKind.LOCK, K, call="futex", address=0x7F6A3C000B70, value=0, private=True, timeout=False)
    assert wait_of(f"{number} {LOCK}", machine, "S", None) == expected


def test_a_futex_without_the_private_bit_is_told_so() -> None:
    wait = wait_of("202 0x7f0000001000 0x109 0x0 0x0 0x0 0xffffffff 0x7ffd0 0x7f0", "x86_64", "S", None)
    assert wait == Wait(WaitKind.LOCK, K, call="futex", address=0x7F0000001000, value=0, private=False, timeout=False)


def test_a_futex_with_a_timeout_wakes_by_itself() -> None:
    wait = wait_of("202 0x7f0000001000 0x89 0x0 0x7ffd1000 0x0 0xffffffff 0x7ffd0 0x7f0", "x86_64", "S", None)
    assert wait is not None
    assert wait.timeout is True


@pytest.mark.parametrize(("machine", "number"), [("x86_64", 61), ("aarch64", 260)])
def test_wait4_names_the_child(machine: str, number: int) -> None:
    wait = wait_of(f"{number} 0x6b6 0x7ffd0 0x0 0x0 0x0 0x0 0x7ffd0 0x7f0", machine, "S", None)
    assert wait == Wait(WaitKind.CHILD, K, call="wait4", target=1718, timeout=False)


def test_wait4_for_any_child_names_none() -> None:
    wait = wait_of("61 0xffffffffffffffff 0x0 0x0 0x0 0x0 0x0 0x7ffd0 0x7f0", "x86_64", "S", None)
    assert wait == Wait(WaitKind.CHILD, K, call="wait4", target=None, timeout=False)


def test_poll_with_a_negative_limit_waits_for_ever_and_with_a_count_does_not() -> None:
    for_ever = wait_of("7 0x7ffd0 0x1 0xffffffff 0x0 0x0 0x0 0x7ffd0 0x7f0", "x86_64", "S", None)
    limited = wait_of("7 0x7ffd0 0x1 0x1388 0x0 0x0 0x0 0x7ffd0 0x7f0", "x86_64", "S", None)
    assert (for_ever, limited) == (
        Wait(WaitKind.POLL, K, call="poll", timeout=False),
        Wait(WaitKind.POLL, K, call="poll", timeout=True),
    )


def test_a_read_names_its_descriptor_and_a_sleep_wakes_by_itself() -> None:
    read = wait_of("0 0x3 0x7ffd0 0x4 0x0 0x0 0x0 0x7ffd0 0x7f0", "x86_64", "S", None)
    sleep = wait_of("230 0x1 0x0 0x7ffd0 0x7ffd1 0x0 0x0 0x7ffd0 0x7f0", "x86_64", "S", None)
    assert (read, sleep) == (
        Wait(WaitKind.PIPE_READ, K, call="read", file="3", timeout=False),
        Wait(WaitKind.SLEEP, K, call="clock_nanosleep", timeout=True),
    )


def test_an_interrupted_wait_is_told_by_where_it_sleeps() -> None:
    line = "219 0x7f0000001000 0x80 0x2 0x0 0x0 0x0 0x7ffd0 0x7f0"
    assert wait_of(line, "x86_64", "S", "futex_do_wait") == Wait(WaitKind.LOCK, K, timeout=True)


def test_a_parent_in_vfork_waits_for_its_child_and_for_no_device() -> None:
    assert wait_of(None, "x86_64", "D", "kernel_clone") == Wait(WaitKind.CHILD, K, timeout=False)


def test_a_running_a_disk_bound_and_a_stopped_task_are_told_by_their_state() -> None:
    kinds = [wait_of(None, "x86_64", state, None) for state in "RDTt"]
    assert [wait.kind for wait in kinds if wait] == [
        WaitKind.ON_CPU,
        WaitKind.DISK,
        WaitKind.STOPPED,
        WaitKind.STOPPED,
    ]


def test_nothing_known_is_none() -> None:
    assert wait_of(None, "x86_64", "S", None) is None
    assert wait_of("torn line", "x86_64", "S", "something_new") is None
    assert wait_of(f"202 {LOCK}", "riscv64", "S", None) is None


@given(st.text(max_size=80), st.sampled_from(sorted(NUMBERS)), st.sampled_from(["S", "R", "D", None]))
def test_no_line_is_a_surprise(line: str, machine: str, state: str) -> None:
    wait = wait_of(line, machine, state, None)
    assert wait is None or isinstance(wait, Wait)

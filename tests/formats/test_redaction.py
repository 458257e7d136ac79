"""A redacted dump names nobody and holds no secret that can be told for one; the rest of it stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Tuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkhang_ipy import api, formats
from forkhang_ipy.formats.redaction import redact, words
from forkhang_ipy.model import Diagnosis
from tests.formats.test_any_text import SHUFFLED

DUMPS = sorted((Path(__file__).parents[1] / "dumps").glob("*.*"))
SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.txt"))
SECRET = st.text("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNP23456789", min_size=8, max_size=30).map("q{}".format)
NAME = st.text("bcdfghjklmnpqrstvwxz", min_size=6, max_size=12)
PLANTED = (
    "python train.py --token {}",
    "python train.py --hf-token={} --lr 3",
    'curl -H "Authorization: Bearer {}" https://x.example.com',
    "WANDB_API_KEY={} python train.py",
    "            password: '{}'",
    '{{"name": "api_key", "repr": "\'{}\'"}}',
    "connect('postgres://me:{}@db.example.com/x')",
    "https://host.example.com/data?token={}&x=1",
    '#3  0x0000000000000001 in login (password=0x5581 "{}") at a.c:1',
)
PEOPLE = (
    "    f (/home/{}/train.py:3)",
    "    f (/Users/{}/train.py:3)",
    '  File "C:\\Users\\{}\\train.py", line 3, in f',
    "$ sudo -u {} py-spy dump --pid 4",
    "(base) [{}@gpu-7 ~]$ ls",
    "root@{}:~# gdb -p 4",
    "{}    4242  4200  0 10:00 pts/0    00:00:01 python train.py",
    "Jan  2 10:00:00 {} python[123]: hello",
)
ADDRESSES = ("10.1.2.3", "192.168.17.4", "fe80::1ff:fe23:4567:890a", "2001:db8:0:0:0:0:2:1", "aa:bb:cc:dd:ee:ff")
KEYS = (
    "AKIAIOSFODNN7EXAMPLE",  # from Amazon's documentation
    "hf_" + "aBcDeFgHiJkLmNoP",
    "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "sk-" + "abcdefghijklmnopqrstuvwx",
)


def said(text: str) -> str:
    return redact([text]).texts[0]


@given(st.one_of(st.text(), SHUFFLED))
def test_any_text_can_be_redacted(text: str) -> None:
    redact([text, text])


@given(SHUFFLED, st.sampled_from(PLANTED), SECRET, SHUFFLED)
def test_no_planted_secret_is_left(before: str, where: str, secret: str, after: str) -> None:
    assert secret not in said(f"{before}\n{where.format(secret)}\n{after}")


@given(SHUFFLED, st.sampled_from(PEOPLE), NAME, SHUFFLED)
def test_no_planted_name_is_left(before: str, where: str, name: str, after: str) -> None:
    assert name not in said(f"{before}\n{where.format(name)}\n{after}\n{name}")


@pytest.mark.parametrize("secret", [*ADDRESSES, *KEYS])
def test_addresses_and_known_keys_are_told_wherever_they_stand(secret: str) -> None:
    text = said(f"Process 4: python x.py {secret}\n    f (a.py:1)\n        Locals:\n            x: '{secret}'\n")
    assert secret not in text
    assert text.count("1") > 1


def test_the_same_thing_has_the_same_stand_in_in_all_texts() -> None:
    texts = ("    f (/home/alice/a.py:1)", "alice@gpu-7:~$ py-spy dump --pid 4", "ssh alice@gpu-7")
    assert redact(texts).texts == (
        "    f (/home/user1/a.py:1)",
        "user1@host1:~$ py-spy dump --pid 4",
        "ssh user1@host1",
    )
    assert redact(texts).replaced == (("user", 1), ("host", 1))


def test_a_stand_in_is_none_that_the_text_has_already() -> None:
    assert said("/home/alice/x /home/user1/y") == "/home/user2/x /home/user3/y"


@pytest.mark.parametrize(
    "line",
    [
        "#0  futex_wait (private=0, expected=2, futex_word=0x7f00dd001060) at ../sysdeps/nptl/futex-internal.h:146",
        "    std::vector<int, std::allocator<int> >::at(unsigned long) (libx.so)",
        "#1  0x00007f00cc04a482 in memcpy@@GLIBC_2.14 () from /usr/lib/libcudnn.so.8.9.7.29",
        "State@S;main@a.py@0-2/5-7 1",
        'Thread 0x7F00AA00B6C0 (idle): "ThreadPoolExecutor-0_0"',
        "Python v3.11.7 (/opt/py/bin/python3.11)",
        "    tokenize (tokenizer.py:12)",
        "    get_password (auth.py:12)",
        "2025-01-02 12:34:56,789 INFO started",
        "    <lambda> (pkg/a b.py:3)",
    ],
)
def test_what_a_diagnosis_needs_is_left(line: str) -> None:
    assert said(line) == line


def test_a_user_who_is_called_like_a_function_changes_no_function() -> None:
    text = 'Thread 4 (idle): "MainThread"\n    train (/home/train/train.py:3)\n    <module> (a.py:1)\n'
    keep = words(formats.parse(text))
    assert redact([text], keep).texts == (text.replace("/home/train/", "/home/user1/"),)


def test_a_word_behind_a_secret_option_is_told_in_a_record_too() -> None:
    record = json.dumps({"forkhang": "proc/1", "pid": 4, "command": ["python", "--token", "opensesame"]})
    assert json.loads(said(record))["command"] == ["python", "--token", "secret1"]


def has_stack(path: Path) -> bool:
    return any(process.threads for process in formats.parse(path.read_bytes().decode()).processes)


def essence(found: Diagnosis) -> Tuple[object, ...]:
    findings = [(one.signature, one.confidence, one.process, one.frames) for one in found.findings]
    frames = [
        [(frame.function, frame.line) for frame in thread.python + thread.native]
        for process in found.dump.processes
        for thread in process.threads
    ]
    return found.verdict, found.confidence, findings, frames


@pytest.mark.parametrize("path", [path for path in [*DUMPS, *SAMPLES] if has_stack(path)], ids=lambda path: path.name)
def test_a_redacted_dump_has_the_same_diagnosis(path: Path, tmp_path: Path) -> None:
    done = api.redact(path, tmp_path / path.name)
    assert done.same
    assert essence(api.read(tmp_path / path.name)) == essence(api.read(path))

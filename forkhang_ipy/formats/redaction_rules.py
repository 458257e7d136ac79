"""How names of people and machines and secrets are told in a text: one pattern each. No callables, nothing is replaced.

A named group is what gets a stand-in; its name is the kind of thing: `user1`, `host2`, `secret3`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import FrozenSet, Tuple

KINDS = ("user", "host", "address", "mail", "secret")
HIDDEN_VALUE = "\x00hidden:"
"""Put before a value whose name, elsewhere, says that it is a secret."""
_WORD = (
    r"(?:token|secret|passw(?:or)?d|passphrase|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|authorization"
    r"|auth[-_]?key|signature|\bpwd|\bsig)"
)
_VALUE = r"""(?P<secret>[^\s,;&'"<>()\[\]{}|\\]+)"""
SECRET_NAME = re.compile(rf"(?i){_WORD}")
SECRET_OPTION = re.compile(rf"(?i)^--?[\w-]*{_WORD}[\w-]*$")
_NO_NAMES = frozenset(
    {"None", "True", "False", "null", "true", "false", "self", "str", "int", "localhost", "127.0.0.1", "0.0.0.0"}  # noqa: S104 no socket
)
_PUBLIC = frozenset({"github.com", "pypi.org", "python.org", "docs.python.org", "bugs.python.org", "pytorch.org"})
_TOP = (
    r"(?:com|net|org|edu|gov|mil|info|local|lan|internal|intranet|corp|home|cloud|cluster|de|uk|fr|cn|jp|eu|ch|in|kr)"
)
_HOST = r"(?P<host>[A-Za-z0-9][\w.-]*)"
_USER = r"(?P<user>[A-Za-z_][\w.-]*)"


@dataclass(frozen=True)
class Rule:
    """One way in which something stands in a text."""

    pattern: re.Pattern[str]
    needs: Tuple[str, ...] = ()
    """One of these must stand in a text that it can match: a quick look before a long search."""
    but: FrozenSet[str] = _NO_NAMES
    """Never replaced."""
    over_lines: bool = False
    """What it matches may have several lines."""


# The first that matches a place has it: what is surely a secret comes before what may be a name.
RULES: Tuple[Rule, ...] = (
    Rule(re.compile(r"(?s)\x00hidden:b?([\"']?)(?P<secret>.+)\1$"), ("\x00hidden:",), frozenset(), over_lines=True),
    Rule(
        re.compile(r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<secret>.+?)-----END"),
        ("PRIVATE KEY-----",),
        over_lines=True,
    ),
    Rule(
        re.compile(
            r"(?<![A-Za-z0-9])(?P<secret>A(?:KIA|SIA)[0-9A-Z]{16}|hf_[A-Za-z0-9]{10,}|gh[pousr]_[A-Za-z0-9]{16,}"
            r"|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AIza[\w-]{30,}"
            r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
        ),
        ("AKIA", "ASIA", "hf_", "gh", "glpat-", "sk-", "xox", "AIza", "eyJ"),
    ),
    Rule(re.compile(r"(?<=://)(?P<user>[^\s:/@]+)(?::(?P<secret>[^\s/@]*))?@(?=[\w\[])"), ("://",)),
    Rule(re.compile(r"(?i)\b(?:bearer|basic) +(?P<secret>[\w.~+/-]{8,}=*)")),
    Rule(re.compile(r"""(?m)(?<=[ ])-u +(?P<user>[^\s:'"]+):(?P<secret>[^\s'"]+)"""), ("-u ",)),
    # --token X, --password=X, SECRET=X, api_key: 'X', password='X', "token": "X"
    Rule(re.compile(rf"""(?i)(?<![\w-])--?[\w-]*{_WORD}[\w-]*(?:=| +)(?:(["'])(?P<secret>.+?)\1)""")),
    Rule(re.compile(rf"(?i)(?<![\w-])--?[\w-]*{_WORD}[\w-]*(?:=| +)(?!-){_VALUE}")),
    Rule(re.compile(rf"""(?i){_WORD}\w*\\?["']? *[:=] *(?:0x[0-9a-f]+ )?b?\\?(["'])(?P<secret>.+?)\\?\1""")),
    Rule(re.compile(rf"(?i){_WORD}\w*\\?[\"']? *[:=] *(?!0x[0-9a-f]|\\){_VALUE}")),
    Rule(
        re.compile(rf"""(?i)"name": *"[^"]*{_WORD}[^"]*"[^{{}}]*?"repr": *"(?P<secret>(?:[^"\\]|\\.)+)\""""),
        ('"repr"',),
    ),
    Rule(
        re.compile(
            r"(?<![\w.+-])(?!secret\d)(?P<mail>[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.(?!(?:py|pyx|so|c|cc|cpp|h|rs)\b)[A-Za-z]{2,})"
            r"(?![\w@:])"
        ),
        ("@",),
    ),
    # (base) [alice@gpu-7 ~]$ ..., ssh alice@gpu-7, scp alice@gpu-7:/tmp/x
    Rule(
        re.compile(rf"(?m)(?:^(?:\([\w.-]+\) )?\[?{_USER}@{_HOST}(?=[: ][^\n$#%]{{0,80}}[$#%](?: |$)))"),
        ("@",),
    ),
    Rule(re.compile(rf"(?<![\w.@/-]){_USER}@{_HOST}(?=:[/~])"), ("@",)),
    Rule(re.compile(rf"\bssh +(?:-\S+ +)*{_USER}@{_HOST}"), ("@",)),
    Rule(re.compile(r"(?i)(?<![0-9a-f:])(?P<address>(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2})(?![0-9a-f:])")),
    Rule(
        re.compile(
            r"(?i)(?<![\w:.])(?P<address>(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6})"
            r"(?![\w:.<(])"
        ),
        (":",),
    ),
    Rule(re.compile(r"(?<![\w.-])(?P<address>(?:\d{1,3}\.){3}\d{1,3})(?![\w.]|-\d)")),
    Rule(
        re.compile(rf"(?:(?<=://)|(?<![\w./-]))(?P<host>(?:[A-Za-z0-9-]+\.)+{_TOP})(?![\w(.-])"),
        (".",),
        _NO_NAMES | _PUBLIC,
    ),
    # Jan  2 10:00:00 gpu-7 python[123]:
    Rule(re.compile(r"(?m)^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?P<host>[\w.-]+)(?= [\w./-]+\[\d+\])")),
    Rule(
        re.compile(
            r"""(?i)(?<![\w/.])(?:host(?:name)?|nodename|master_addr|server(?:_?name)?)["']? *[:=] *["']?"""
            r"(?P<host>[a-z][\w.-]*)(?![\w(])"
        )
    ),
    Rule(
        re.compile(
            r"""(?i)(?<![\w/.])(?:user(?:_?name)?|login|logname)["']? *[:=] *["']?(?P<user>[a-z_][\w.-]*)(?![\w(])"""
        )
    ),
    Rule(re.compile(rf"(?i)(?<![\w-])(?:sudo +-u|--user(?:name)?) *[= ] *{_USER}")),
    Rule(
        re.compile(r"(?<![\w.])(?:/home|/Users|/users|/export/home)/(?P<user>[^\s/:'\",;()\[\]<>]+)"),
        ("/home/", "sers/"),
    ),
    Rule(re.compile(r"(?i)(?:[a-z]:)?\\{1,2}Users\\{1,2}(?P<user>[^\\/:'\"<>|]+)(?=\\)"), ("sers\\",)),
    Rule(re.compile(r"(?<![\w./-])/(?P<user>root)(?=[/\s:'\"]|$)"), ("/root",)),
    Rule(re.compile(rf"(?<![\w/])~{_USER}(?=/)"), ("~",)),
    # ps -ef, ps aux
    Rule(re.compile(r"(?m)^(?P<user>[a-z_][\w.+-]*) +\d+ +(?:\d+ +\d+ +[\d:A-Za-z]+|\d+\.\d +\d+\.\d) +")),
    # The name of a file in a record of ours.
    Rule(re.compile(r"(?i)(?<![a-z0-9/])(?P<host>(?:[a-z][a-z0-9]*-)*node[-_]?\d+|ip(?:-\d{1,3}){4})(?=[_./ ]|$)")),
)

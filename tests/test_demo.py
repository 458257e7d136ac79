"""`forkhang demo` makes a real hang, diagnoses it and ends it; so does the README's first command."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests import live

ROOT = Path(__file__).parent.parent


def test_the_demonstration_says_what_it_made_proves_it_and_ends_it() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "forkhang_ipy", "demo"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    made = re.search(r"^Process (\d+) and its worker (\d+) hang now: (.*)\.$", done.stdout, re.MULTILINE)
    assert made is not None
    version = ".".join(map(str, sys.version_info[:3]))
    if live.affected(version):
        assert made[3] == f"the real hang of gh-112275, because Python {version} has that bug"
        assert "▶① _PyThreadState_DeleteExcept" in done.stdout
    else:
        assert made[3].startswith("a lock that another thread holds while a worker is forked, because ")
        assert "load_batch" in done.stdout
    assert "start_worker" in done.stdout
    assert "FORKED HERE" in done.stdout
    assert "⊘ FORK DEADLOCK · proven" in done.stdout
    assert not any(Path(f"/proc/{pid}").exists() for pid in made.groups()[:2])


def test_the_readme_knows_every_verb_and_every_verdict() -> None:
    from forkhang_ipy.cli import VERBS
    from forkhang_ipy.model import Verdict

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [verb for verb in VERBS if f"forkhang {verb}" not in readme] == []
    assert [verdict.value for verdict in Verdict if f"`{verdict.value}`" not in readme] == []


def test_the_readmes_picture_and_links_are_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    local = [link for link in re.findall(r"\]\(([^)]+)\)", readme) if "://" not in link]
    assert [link for link in local if not (ROOT / link).exists()] == []
    assert "notebooks/hang.png" in local

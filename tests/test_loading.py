"""What is loaded when: the extension is light, and says how it is used."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import List

HEAVY = ["pandas", "anywidget", "rich", "ipywidgets", "numpy", "psutil"]


def loaded_by(program: str) -> List[str]:
    """The heavy packages that are loaded after this program ran."""
    watch = f"\nimport json, sys; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", program + watch], stdout=subprocess.PIPE, check=True, text=True)
    loaded: List[str] = json.loads(done.stdout.splitlines()[-1])
    return loaded


def test_load_ext_loads_nothing_heavy() -> None:
    shell = "from IPython.core.interactiveshell import InteractiveShell; shell = InteractiveShell.instance()\n"
    before = loaded_by(shell)
    assert loaded_by(shell + "shell.run_line_magic('load_ext', 'forkhang_ipy')") == before


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import forkhang_ipy, forkhang_ipy.cli, forkhang_ipy.ui.magics") == []


def test_importing_the_verbs_loads_no_views() -> None:
    assert set(loaded_by("import forkhang_ipy; forkhang_ipy.diagnose")) & {"pandas", "rich", "anywidget"} == set()

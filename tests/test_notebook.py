"""In a real kernel, and in a real JupyterLab in a real browser: `%forkhang` is one line."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

import pytest

from tests import live

QUIET_BROWSER = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# --- a kernel --------------------------------------------------------------------------------------------------------


@contextmanager
def kernel() -> Iterator[Any]:
    """A client of a fresh IPython kernel."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client: Any, code: str) -> List[Dict[str, Any]]:  # noqa: ANN401 jupyter_client has no types
    """The contents of the messages that this cell sent, and its pager's text."""
    said: List[Dict[str, Any]] = []
    reply = client.execute_interactive(code, timeout=60, output_hook=lambda message: said.append(message["content"]))
    return said + [page["data"] for page in reply["content"].get("payload", []) if page["source"] == "page"]


def test_one_line_in_a_notebook_shows_html_and_text() -> None:
    with live.hanging("threading_lock.py") as hang, kernel() as client:
        run(client, "%load_ext forkhang_ipy")
        shown = next(message["data"] for message in run(client, f"%forkhang {hang.pid}") if "data" in message)
    assert set(shown) == {"text/html", "text/plain"}
    assert shown["text/plain"].startswith("⊘ FORK DEADLOCK · proven\n")
    assert "<script" not in shown["text/html"]


def test_the_answer_can_be_kept_and_asked() -> None:
    with live.hanging("threading_lock.py") as hang, kernel() as client:
        run(client, "%load_ext forkhang_ipy")
        assert not [message for message in run(client, f"rep = %forkhang {hang.pid}") if "data" in message]
        asked = run(client, "print(rep.verdict.value, rep.findings[0].process)")
    assert [message["text"] for message in asked if "text" in message] == [f"fork-deadlock {hang.child}\n"]


def test_a_bad_target_is_one_sentence_and_no_traceback_of_ours() -> None:
    with kernel() as client:
        run(client, "%load_ext forkhang_ipy")
        errors = [
            message for message in run(client, "import os\n%forkhang {os.getpid()}") if message.get("name") == "stderr"
        ]
    assert len(errors) == 1
    assert errors[0]["text"].startswith("UsageError: Process ")
    assert "Ask from another terminal or notebook." in errors[0]["text"]


def test_the_magic_explains_itself_and_can_be_taken_away() -> None:
    with kernel() as client:
        run(client, "%load_ext forkhang_ipy\n%load_ext forkhang_ipy")
        explained = run(client, "%forkhang?")[-1]["text/plain"]
        gone = run(client, "%unload_ext forkhang_ipy\n%forkhang 1")
    assert "usage: %forkhang" in explained
    assert "--interval" in explained
    assert any("`%forkhang` not found" in message.get("text", "") for message in gone)


# --- JupyterLab ------------------------------------------------------------------------------------------------------


@contextmanager
def jupyter_lab(folder: Path) -> Iterator[str]:
    """The address of a JupyterLab of our own, which serves this folder and knows nothing of the user's."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    settings = folder / "config" / "labconfig"
    settings.mkdir(parents=True)
    quiet = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (settings / "page_config.json").write_text(json.dumps(quiet))
    work = folder / "work"
    work.mkdir()
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            "--allow-root",
            f"--port={port}",
            "--IdentityProvider.token=test",
            f"--ServerApp.root_dir={work}",
        ],
        env={**os.environ, **own},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port, server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        assert server.poll() is None, "JupyterLab ended at once"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("JupyterLab does not answer")


def browser_program() -> str:
    found: Optional[str] = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if found is None:
        live.unavailable("no Chromium on this machine (Debian: apt-get install chromium)")
    return str(found)


def notebook(*cells: str) -> str:
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"cell-{at}",
                    "metadata": {},
                    "source": cell,
                    "outputs": [],
                    "execution_count": None,
                }
                for at, cell in enumerate(cells)
            ],
        }
    )


@pytest.mark.skipif(sys.version_info < (3, 10), reason="no current JupyterLab runs on this Python")
def test_jupyterlab_shows_verdict_both_columns_proof_and_cure(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    program = browser_program()
    with live.hanging("pthread_mutex.py") as hang, jupyter_lab(tmp_path) as address, sync_playwright() as player:
        (tmp_path / "work" / "hang.ipynb").write_text(notebook("%load_ext forkhang_ipy", f"%forkhang {hang.pid}"))
        browser = player.chromium.launch(executable_path=program, args=QUIET_BROWSER)
        page = browser.new_page(viewport={"width": 1400, "height": 1200})
        page.goto(f"{address}/lab/tree/hang.ipynb?token=test")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        shown = page.locator(".jp-OutputArea-output .forkhang")
        shown.wait_for(timeout=60_000)
        shown.scroll_into_view_if_needed()
        page.screenshot(path=str(tmp_path / "lab.png"))
        said = shown.inner_text()
        headers = shown.locator("thead th").all_inner_texts()[:2]
        browser.close()
    assert said.startswith("⊘ Fork deadlock · proven")
    assert headers == ["Python", "Native"]
    assert 'thread "holder"' in said
    assert "BLOCKED HERE" in said
    assert "Proof" in said
    assert "Cure" in said

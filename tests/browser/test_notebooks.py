"""The widget in a real JupyterLab and in marimo, driven by the browser."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

CELL = """\
import numpy as np, polars as pl, treewright as tw
rng = np.random.default_rng(0)
table = pl.DataFrame({'age': rng.integers(18, 80, 400), 'home': rng.choice(['own', 'rent', 'free'], 400)})
risk = np.where(table['age'].to_numpy() + rng.normal(size=400) * 12 > 45, 'good', 'bad')
session = tw.workbench.Session(table, risk, min_samples_leaf=5)
session.widget(title='risk')"""
FRAME = "iframe[title='Treewright workbench']"


@pytest.fixture
def begin(tmp_path):
    """Runs a server of notebooks in a folder; returns its port and what stops it."""
    running = []

    def start(*arguments):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        homes = {
            name: str(tmp_path / name)
            for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "XDG_CONFIG_HOME")
        }
        process = subprocess.Popen(
            [sys.executable, "-m", *(each.format(port=port) for each in arguments)], cwd=tmp_path,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **homes},
        )  # fmt: skip
        running.append(process)
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        return port, lambda: (process.terminate(), process.wait(30))

    yield start
    for process in running:
        process.kill()
        process.wait()


def opened(chromium, address):
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(60_000)
    # JupyterLab may ask which kernel a notebook wants, where it was slow to find out.
    dialog = page.locator(".jp-Dialog")
    page.add_locator_handler(dialog, dialog.locator(".jp-mod-accept").first.click)
    page.goto(address)
    return page


def does(frame, selector, revision):
    frame.locator(selector).click()
    frame.locator(f'html[data-revision="{revision}"]').wait_for(state="attached")


def run_cell(page, place):
    """Run a cell; where the page was not ready for the keys, press them again."""
    from playwright.sync_api import TimeoutError as Late

    cell = page.locator(".jp-Notebook .jp-Cell").nth(place)
    for _ in range(5):
        cell.locator(".jp-Editor").click()
        page.keyboard.press("Shift+Enter")
        try:
            cell.locator(".jp-InputPrompt:not(:has-text('[ ]'))").first.wait_for(timeout=8_000)
        except Late:
            continue
        return
    raise AssertionError("the cell did not run")


LAB = (
    "jupyterlab", "--no-browser", "--port", "{port}", "--ServerApp.token=secret", "--allow-root",
    "--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)  # fmt: skip


def test_in_jupyterlab_the_session_goes_on_and_a_saved_notebook_shows_it_without_the_kernel(chromium, begin, tmp_path):
    pytest.importorskip("jupyterlab")
    cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    document = {
        "cells": [
            {**cell, "id": "one", "source": CELL},
            {**cell, "id": "two", "source": "print([command.do for command in session.log])"},
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    (tmp_path / "grow.ipynb").write_text(json.dumps(document))
    port, stop = begin(*LAB)
    address = "http://127.0.0.1:{}/lab/tree/grow.ipynb?token=secret&reset"
    page = opened(chromium, address.format(port))
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    run_cell(page, 0)
    frame = page.frame_locator(FRAME)
    frame.locator("html[data-ready=yes]").wait_for(state="attached")
    assert page.locator(".treewright-still").is_hidden()
    does(frame, "[data-act=grow_end]", 1)
    does(frame, "#bench-undo", 2)
    does(frame, "[data-act=grow]", 3)
    # Keys of the screen are none of the notebook's: d twice would delete a cell there.
    frame.locator(".bench-node h2").focus()
    page.keyboard.press("d")
    page.keyboard.press("d")
    assert page.locator(".jp-Notebook .jp-Cell").count() == 2
    # Files come through the kernel.
    frame.locator(".bench-files summary").click()
    with page.expect_download() as waiting:
        frame.locator('[data-file="script"]').click()
    assert "session.grow('', levels=1" in waiting.value.path().read_text()
    run_cell(page, 1)
    page.wait_for_selector(".jp-OutputArea-output:has-text(\"['grow']\")")
    page.keyboard.press("Control+s")
    for _ in range(100):
        if "the tree after 1 command" in (tmp_path / "grow.ipynb").read_text():
            break
        page.wait_for_timeout(100)
    page.context.close()
    stop()

    port, _ = begin(*LAB)
    page = opened(chromium, address.format(port))
    still = page.frame_locator(".treewright-still iframe, .jp-OutputArea iframe").first
    still.locator("html[data-ready=yes]").wait_for(state="attached")
    assert still.locator("h1").inner_text() == "risk: the tree after 1 command"
    assert still.locator(".tree-card").count() == 3
    page.context.close()
    # The fixture kills this server. Asked to stop here, soon after it began, it took more than 30 s in 3 runs of 8.


def test_in_marimo_the_session_goes_on(chromium, begin, tmp_path):
    pytest.importorskip("marimo")
    body = CELL.replace("\n", "\n    ")
    (tmp_path / "grow.py").write_text(
        f"import marimo\n\napp = marimo.App()\n\n\n@app.cell\ndef _():\n    {body}\n    return\n"
    )
    port, stop = begin("marimo", "run", "grow.py", "--headless", "--no-token", "-p", "{port}")
    page = opened(chromium, f"http://127.0.0.1:{port}/")
    frame = page.frame_locator(FRAME)
    frame.locator("html[data-ready=yes]").wait_for(state="attached")
    does(frame, "[data-act=grow_end]", 1)
    does(frame, "#bench-undo", 2)
    assert frame.locator(".tree-card").count() == 1
    page.context.close()
    stop()

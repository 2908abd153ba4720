"""A real browser for pages: Chromium, driven by Playwright.

Where either is not installed the tests are skipped and say so; with ``TREEWRIGHT_BROWSER=required`` (CI) they fail.
``TREEWRIGHT_CHROMIUM`` names the program, ``TREEWRIGHT_AXE`` the file ``axe.min.js`` of axe-core (npm).

A usual run takes the tests marked ``smoke``, at least one for each kind of page; the others are slow ones. Scripts,
styles and templates that differ from those with which every test here has passed last (``assets_tried.txt`` has their
digest) make all of them usual. ``TREEWRIGHT_WRITE_DOCS=1 pytest -n 0 tests/browser`` writes down that all have passed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
ASSETS = ("src/treewright/show/page/assets", "src/treewright/workbench/assets", "docs/site/static")
TRIED = HERE / "assets_tried.txt"


def digest_of_assets():
    """One of the names and contents of everything that a browser gets as it lies in the repository."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(path for folder in ASSETS for path in (ROOT / folder).rglob("*") if path.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


ARE_TRIED = TRIED.is_file() and TRIED.read_text(encoding="utf-8").strip() == digest_of_assets()


def pytest_itemcollected(item):
    if ARE_TRIED and item.get_closest_marker("smoke") is None:
        item.add_marker(pytest.mark.slow)


def pytest_sessionfinish(session, exitstatus):
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    files = {item.path for item in getattr(session, "items", ())}
    is_all = files == {*HERE.glob("test_*.py")} and not {"skipped", "deselected"} & {*getattr(terminal, "stats", {})}
    if os.environ.get("TREEWRIGHT_WRITE_DOCS") and exitstatus == 0 and is_all:
        TRIED.write_text(digest_of_assets() + "\n", encoding="utf-8")


def absent(reason):
    """Skip, or fail where a browser is asked for."""
    if os.environ.get("TREEWRIGHT_BROWSER") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass
class Opened:
    """A page in the browser, and what it did that it must not do."""

    page: object
    path: Path
    complaints: list = field(default_factory=list)
    requests: list = field(default_factory=list)

    def number(self, name):
        """The number in the element that ``data-name`` names."""
        return float(self.page.locator(f'[data-name="{name}"]').first.inner_text().replace(",", "").split()[0])

    def text(self, name):
        """The text of the element that ``data-name`` names."""
        return self.page.locator(f'[data-name="{name}"]').first.inner_text()


@pytest.fixture(scope="session")
def chromium():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("Playwright is not installed: pip install playwright")
    program = os.environ.get("TREEWRIGHT_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        absent("Chromium is not installed: install it, or name it in TREEWRIGHT_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium, tmp_path):
    """Opens HTML text as a file, and at the end asserts that it neither complained nor asked for anything."""
    opened = []

    def open_text(text, *, width=1280, height=900, scheme="light", **context_options):
        path = tmp_path / f"page{len(opened)}.html"
        path.write_text(text, encoding="utf-8")
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, **context_options
        )
        page = context.new_page()
        page.set_default_timeout(10_000)
        held = Opened(page, path)
        page.on(
            "console", lambda said: held.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: held.complaints.append(str(error)))
        page.on("request", lambda request: held.requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]", state="attached")
        opened.append((context, held))
        return held

    yield open_text
    for context, held in opened:
        context.close()
        assert held.complaints == [], "the page wrote errors to the console"
        assert held.requests == [held.path.as_uri()], "the page asked for something"


@pytest.fixture(scope="session")
def axe_source():
    """The text of axe-core, which looks for faults of accessibility."""
    named = os.environ.get("TREEWRIGHT_AXE")
    places = [Path(named)] if named else [ROOT / "node_modules" / "axe-core" / "axe.min.js"]
    found = [place for place in places if place.is_file()]
    if not found:
        absent("axe-core is not installed: npm install axe-core, or name axe.min.js in TREEWRIGHT_AXE")
    return found[0].read_text(encoding="utf-8")


@pytest.fixture
def faults(axe_source):
    """Serious and critical faults of accessibility that axe-core finds in a page."""

    def found(page):
        page.evaluate(axe_source)
        result = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
        return [
            (each["id"], each["impact"], [node["html"][:120] for node in each["nodes"][:3]])
            for each in result
            if each["impact"] in ("serious", "critical")
        ]

    return found

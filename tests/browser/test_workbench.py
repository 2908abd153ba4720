"""The workbench in a real browser: the task of an analyst, keys, two tabs, a killed server, hostile names."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pytest

import treewright as tw
from treewright.trees.codec import dumps
from treewright.workbench.screen import Desk
from treewright.workbench.server import Server

N = 1_000
RNG = np.random.default_rng(3)
TABLE = pl.DataFrame(
    {
        "purpose": RNG.choice(["car", "tv", "house", "study", "repairs"], N),
        "amount": RNG.lognormal(8, 0.7, N).round(-1),
        "months": RNG.integers(4, 72, N),
        "age": np.where(RNG.random(N) < 0.05, np.nan, RNG.integers(19, 75, N)),
        "home": RNG.choice(["own", "rent", "free"], N),
    }
)
PULL = (
    TABLE["months"].to_numpy() / 30 + TABLE["amount"].to_numpy() / 4_000
    - (TABLE["home"] == "own").to_numpy() * 1.0 + TABLE["purpose"].is_in(["car", "study"]).to_numpy() * 0.6
)  # fmt: skip
RISK = pl.Series("risk", np.where(PULL + RNG.normal(size=N) * 0.8 > 2.2, "bad", "good"))


@dataclass
class Bench:
    """A page of the workbench."""

    page: Any
    complaints: list = field(default_factory=list)

    def complains(self, text):
        self.complaints.append(text)

    @property
    def revision(self):
        return int(self.page.get_attribute("html", "data-revision"))

    def waits_for(self, revision):
        self.page.wait_for_selector(f'html[data-revision="{revision}"]', state="attached")

    def does(self, act):
        """Do what changes the session, and wait until it is drawn."""
        before = self.revision
        act()
        self.waits_for(before + 1)

    def chooses(self, path):
        """Click the card of a node."""
        self.page.locator(f'.tree-card[data-path="{path}"]').click(position={"x": 12, "y": 12})
        self.page.wait_for_selector(f'html[data-selected="{path}"]', state="attached")
        self.page.wait_for_selector(".bench-question-host .bench-question", state="attached")

    def column(self, name):
        self.page.locator(".bench-ask", has_text=re.compile(f"^{re.escape(name)}")).first.click()
        self.page.wait_for_selector(f".bench-question h3:text-is({json.dumps(name)})")

    def said(self):
        return self.page.inner_text(".bench-status")

    def words(self):
        return self.page.locator(".bench-words").all_inner_texts()


@pytest.fixture
def show(chromium, serve):  # pages are closed before the server
    """Opens an address, and at the end asserts that the page complained of nothing."""
    opened = []

    def open_address(address, *, width=1440, height=1000, scheme="light"):
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        page = context.new_page()
        page.set_default_timeout(10_000)
        bench = Bench(page)
        page.on(
            "console", lambda said: bench.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: bench.complains(str(error)))
        page.on("dialog", lambda dialog: (bench.complains(dialog.message), dialog.dismiss()))
        page.goto(address)
        page.wait_for_selector("html[data-ready=yes]", state="attached")
        opened.append((context, bench))
        return bench

    yield open_address
    for context, bench in opened:
        context.close()
        assert bench.complaints == []


@pytest.fixture
def serve():
    """Serves a session from a thread."""
    running = []

    def begin(session, **options):
        server = Server(Desk(session, title="risk of credits", **options))
        thread = threading.Thread(target=server._server.run, kwargs={"sockets": [server._socket]}, daemon=True)
        thread.start()
        running.append((server, thread))
        return server

    yield begin
    for server, thread in running:
        server.quit()
        thread.join(10)


def session_of(table=TABLE, target=RISK, **options):
    return tw.workbench.Session(table, target, **{"min_samples_leaf": 15, "who": "Ann", **options})


@pytest.fixture
def command():
    """Runs the command in a process of its own; returns it with the address that it prints."""
    begun = []
    yield lambda *given: begin_command(*given, begun)
    for process in begun:
        process.kill()
        process.communicate()


def begin_command(arguments, folder, begun):
    process = subprocess.Popen(
        [sys.executable, "-m", "treewright", "workbench", *arguments, "--no-browser"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    begun.append(process)
    line = process.stdout.readline()
    assert "http://127.0.0.1" in line, process.stderr.read()
    return process, line.split()[-1]


@pytest.mark.smoke
def test_the_task_of_an_analyst_and_its_script_gives_the_same_bytes(show, command, tmp_path):
    TABLE.with_columns(RISK).write_csv(tmp_path / "credits.csv")
    process, address = command(
        ["credits.csv", "--target", "risk", "--set", "min_samples_leaf=15", "--who", "Ann", "--sealed", "0.1"], tmp_path
    )
    bench = show(address)
    page = bench.page
    # Force the first split, with two levels together.
    bench.column("purpose")
    for chip in ("car", "study"):
        if page.locator(f'.bench-chips[data-branch="0"] .bench-chip:has-text("{chip}")').count() == 0:
            page.locator(f'.bench-chip:has-text("{chip}")').click()
    for chip in ("tv", "house", "repairs"):
        if page.locator(f'.bench-chips[data-branch="0"] .bench-chip:has-text("{chip}")').count():
            page.locator(f'.bench-chip:has-text("{chip}")').click()
    page.fill("#bench-why", "the policy of 2024 begins with it")
    bench.does(lambda: page.click("[data-do=split]"))
    assert bench.words()[-1] == "Split the root: purpose {car, study}"
    # A second question, whose cut is dragged.
    bench.chooses("0")
    bench.column("months")
    bench.does(lambda: page.click("[data-do=split]"))
    bench.chooses("0")
    bars = page.locator(".bench-bars").bounding_box()
    x = (float(page.locator(".bench-cut").get_attribute("x1")) + 8) / 496 * bars["width"] + bars["x"]
    page.mouse.move(x, bars["y"] + 30)
    page.mouse.down()
    page.mouse.move(x + 60, bars["y"] + 30, steps=4)
    page.mouse.up()
    page.wait_for_selector(".bench-said:has-text('cost 0.')")
    bench.does(lambda: page.click("[data-do=move]"))
    bench.does(lambda: page.click("[data-act=lock]"))
    # The rest grows, and is cut back around the lock.
    bench.does(lambda: page.click("#bench-grow-all"))
    page.locator("#bench-leaves").focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    assert page.locator(".tree-card .toggle.has-cut, .tree-card .has-cut").count() > 0
    bench.does(lambda: page.click("#bench-cut"))
    locked = bench.words()
    for _ in range(3):
        bench.does(lambda: page.click("#bench-undo"))
    assert page.locator(".bench-commands .is-undone").count() == 3
    for _ in range(3):
        bench.does(lambda: page.click("#bench-redo"))
    assert bench.words() == locked
    assert "seen" in page.inner_text(".bench-seen")
    # The files.
    found = {}
    for kind in ("model", "script", "session", "picture"):
        page.click(".bench-files summary")
        with page.expect_download() as waiting:
            page.click(f'[data-file="{kind}"]')
        found[kind] = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(found[kind])
    page.click(".bench-files summary")
    with page.context.expect_page() as waiting:
        page.click('[data-file="report"]')
    waiting.value.wait_for_selector("html[data-ready=yes]", state="attached")
    assert "risk" in waiting.value.title()
    assert "the policy of 2024 begins with it" in waiting.value.inner_text("#log")
    waiting.value.close()
    page.click("#bench-quit")
    page.wait_for_selector(".bench-status:has-text('has quit')")
    assert process.wait(15) == 0
    saved = json.loads((tmp_path / "credits.session.json").read_text())
    assert [each["do"] for each in saved["commands"]] == ["split", "split", "move", "lock", "grow", "prune"]
    assert saved["commands"][0]["why"] == "the policy of 2024 begins with it"
    run = "import sys; exec(open('credits.py').read()); model.save('again.tw')"
    subprocess.run([sys.executable, "-c", run], cwd=tmp_path, check=True)
    assert (tmp_path / "again.tw").read_bytes() == found["model"].read_bytes()
    assert found["picture"].read_text().startswith("<svg")


def test_every_action_by_keyboard(show, serve):
    session = session_of(sealed=0.1)
    bench = show(serve(session).address)
    page = bench.page
    page.locator(".tree-card").first.focus()
    bench.does(lambda: page.keyboard.press("g"))
    page.locator(".tree-card").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector('html[data-selected="0"]', state="attached")
    bench.does(lambda: page.keyboard.press("Shift+G"))
    bench.does(lambda: page.keyboard.press("l"))
    bench.does(lambda: page.keyboard.press("l"))
    bench.does(lambda: page.keyboard.press("Delete"))
    page.keyboard.press("n")
    page.keyboard.type("the young")
    bench.does(lambda: page.keyboard.press("Enter"))
    page.locator(".bench-ask").nth(1).focus()
    page.keyboard.press("Enter")
    page.locator("#bench-why").focus()
    page.keyboard.type("by the law")
    page.keyboard.press("Tab")
    page.locator(".bench-node h2").focus()
    page.keyboard.press("d")
    page.keyboard.press("ArrowDown")
    bench.does(lambda: page.locator(".bench-form button[type=submit]").press("Enter"))
    page.locator(".tree-card").first.focus()
    bench.does(lambda: page.keyboard.press("Control+z"))
    bench.does(lambda: page.keyboard.press("Control+y"))
    done = [command.do for command in session.log]
    assert done == ["grow", "grow", "lock", "unlock", "prune", "rename", "decide"]
    assert session.log[-1].why == "by the law"
    # Back by the log, with the keys as well.
    page.locator('.bench-commands [data-n="1"]').focus()
    bench.does(lambda: page.keyboard.press("Enter"))
    assert len(session.log) == 1
    # A chip and a cut.
    page.locator(".tree-card").nth(1).focus()
    page.keyboard.press("Enter")
    bench.column("home")
    page.locator(".bench-chip").first.focus()
    page.keyboard.press("Enter")
    bench.column("months")
    slider = page.locator(".bench-question input[type=range]")
    before = page.inner_text(".bench-cut-words")
    slider.focus()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    assert page.inner_text(".bench-cut-words") != before
    bench.does(lambda: page.locator("[data-do=split]").press("Enter"))
    page.locator("#bench-seal").press("Enter")
    bench.does(lambda: page.locator("#bench-seal-open").press("Enter"))
    assert session.opened is not None
    assert page.locator("#bench-undo").is_disabled()


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (1440, "dark"), (420, "light"), (420, "dark")])
def test_it_is_accessible(show, serve, faults, width, scheme):
    session = session_of()
    bench = show(serve(session).address, width=width, scheme=scheme)
    assert faults(bench.page) == []
    bench.does(lambda: bench.page.click("#bench-grow-all"))
    bench.page.click(".bench-paper summary")
    bench.page.wait_for_selector(".bench-paper pre:has-text('gain')")
    bench.page.click("[data-act=rename]")
    bench.page.click(".bench-files summary")
    assert faults(bench.page) == []
    wide = bench.page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= width


@pytest.mark.smoke
def test_two_tabs_show_one_session(show, serve):
    session = session_of()
    server = serve(session)
    one, other = show(server.address), show(server.address)
    one.does(lambda: one.page.click("[data-act=grow]"))
    other.waits_for(1)
    assert other.words() == one.words()
    # A request of a state that is gone changes nothing.
    answer = server.desk.ask({"ask": "do", "do": "prune", "path": "", "given": {}, "revision": 0})
    assert "Another screen" in answer["error"]
    assert answer["state"]["revision"] == 1
    assert len(session.log) == 1


def test_a_killed_server_loses_nothing(show, command, tmp_path):
    TABLE.with_columns(RISK).write_csv(tmp_path / "credits.csv")
    arguments = ["credits.csv", "--target", "risk", "--set", "min_samples_leaf=15"]
    process, address = command(arguments, tmp_path)
    bench = show(address)
    bench.does(lambda: bench.page.click("[data-act=grow]"))
    bench.does(lambda: bench.page.click("#bench-grow-all"))
    bench.does(lambda: bench.page.click("#bench-undo"))
    process.send_signal(signal.SIGKILL)
    process.wait()
    bench.page.wait_for_selector(".bench-status:has-text('does not answer')")
    bench.page.close()
    bench.complaints.clear()  # the browser says that the connection was lost
    process, address = command(arguments, tmp_path)
    again = show(address)
    assert again.words()[1:] == ["Grow the root by 1 level", "Grow all open leaves to the end"]
    assert again.page.locator(".is-undone").count() == 1
    again.does(lambda: again.page.click("#bench-redo"))
    again.page.close()


def test_two_sessions_are_compared(show, serve, tmp_path):
    session, other = session_of(), session_of()
    for each in (session, other):
        each.split("", "months", cut=30)
    other.grow("1", levels=1)
    session.lock("0")
    other.save(tmp_path / "other.json")
    (tmp_path / "broken.json").write_text("{")
    page = show(serve(session).address).page
    page.click(".bench-log summary")
    page.set_input_files("#bench-compare", tmp_path / "other.json")
    page.wait_for_selector(".bench-compared:has-text('1 command in common')")
    told = page.inner_text(".bench-compared")
    assert "the trees differ" in told
    assert "Lock node 0" in told
    assert "other.json: 3 leaves, depth 2" in told
    page.set_input_files("#bench-compare", tmp_path / "broken.json")
    page.wait_for_selector(".bench-compared .is-wrong:has-text('that session: is damaged')")
    assert len(session.log) == 2


HOSTILE = '"><img src=x onerror=alert(1)>'


def test_hostile_names_are_text(show, serve):
    table = TABLE.with_columns(
        TABLE["home"].replace({"own": HOSTILE, "rent": "</script><script>alert(2)</script>"})
    ).rename({"months": HOSTILE, "amount": "{{7*7}}"})
    session = session_of(table, RISK.replace({"bad": HOSTILE}), who=HOSTILE)
    server = serve(session)
    server.desk.title = "</title><script>alert(3)</script>"
    bench = show(server.address)
    page = bench.page
    bench.does(lambda: page.click("[data-act=grow_end]"))
    page.click("[data-act=rename]")
    page.keyboard.type(HOSTILE)
    page.fill("#bench-why", HOSTILE)
    bench.does(lambda: page.click(".bench-form button[type=submit]"))
    bench.column("home")
    page.click(".bench-paper summary")
    page.wait_for_selector(".bench-paper pre:has-text('gain')")
    assert page.locator("img, body script:not([type=module])").count() == 0
    assert HOSTILE in page.inner_text(".bench-log")
    assert HOSTILE in page.inner_text(".bench-node h2")


def test_long_work_shows_and_stops(show, serve):
    rng = np.random.default_rng(1)
    table = {f"x{at}": rng.normal(size=60_000) for at in range(12)}
    session = tw.workbench.Session(table, rng.integers(0, 2, 60_000), held_out=0)
    bench = show(serve(session).address)
    bench.page.click("#bench-grow-all")
    bench.page.wait_for_selector("#bench-stop:visible")
    bench.page.wait_for_selector(".bench-work progress[value]")
    bench.page.click("#bench-stop")
    bench.page.wait_for_selector(".bench-status:has-text('Stopped')")
    assert session.log == ()
    assert bench.revision == 0


def test_looks_are_counted_and_can_be_left_out(show, serve):
    session = session_of()
    bench = show(serve(session).address)
    assert bench.page.inner_text(".bench-seen").strip() == "seen 1 time"
    bench.page.click("#bench-always")
    bench.does(lambda: bench.page.click("[data-act=grow]"))
    assert session.n_looks == 1
    assert "not evaluated" in bench.page.inner_text(".bench-figures")
    bench.page.click("#bench-look")
    bench.page.wait_for_selector(".bench-seen:has-text('seen 2 times')")
    assert session.n_looks == 2


def test_five_hundred_leaves_can_be_read(show, serve):
    rng = np.random.default_rng(1)
    table = {f"x{at}": rng.normal(size=9_000) for at in range(5)}
    session = tw.workbench.Session(table, rng.integers(0, 3, 9_000), held_out=0, min_samples_leaf=9)
    session.grow()
    assert session.model.trees[0].n_leaves >= 500
    bench = show(serve(session).address)
    cards = bench.page.locator(".tree-card").all()
    assert 3 <= len(cards) <= 60
    bench.does(lambda: bench.page.click("[data-act=lock]"))
    bench.page.fill(".tree-search input", "x3")
    assert bench.page.locator(".tree-card.is-hit").count() > 0
    bench.does(lambda: bench.page.click("#bench-undo"))
    assert dumps(session.model)


def test_the_measure_is_chosen_on_the_page(show, serve, tmp_path):
    session = session_of(cost={"fp": 1, "fn": 5}, positive="bad", sealed=0.1)
    session.grow(levels=2)
    place = tmp_path / "s.json"
    bench = show(serve(session, save_to=str(place)).address)
    page = bench.page
    assert page.locator("#bench-measure").evaluate("select => select.selectedOptions[0].text") == (
        "cost per row (less is better)"
    )
    assert "predicts bad if its probability is at least 1/6 (0.1667)" in page.inner_text(".bench-decides")
    costs = session.figures()
    assert f"{costs['held_out']['score']:.3f}" in page.inner_text(".bench-figures")
    page.select_option("#bench-measure", "roc_auc")
    page.wait_for_function("document.querySelector('#bench-measure').value == 'roc_auc'")
    wanted = f"{session.figures()['held_out']['score']:.3f} ({session.figures()['held_out']['low']:.3f} to"
    page.wait_for_selector(f".bench-figures:has-text('{wanted}')")
    assert "seen 1 time" in page.inner_text(".bench-seen")
    for _ in range(100):  # the page shows the figures before the file is written
        if json.loads(place.read_text())["measure"] == "roc_auc":
            break
        page.wait_for_timeout(50)
    assert json.loads(place.read_text())["measure"] == "roc_auc"
    # The next step is judged by it, and compared with the state before.
    bench.does(lambda: page.click("#bench-grow-best"))
    assert "before" in page.inner_text(".bench-figures")
    assert page.input_value("#bench-measure") == "roc_auc"
    page.click("#bench-seal")
    bench.does(lambda: page.click("#bench-seal-open"))
    page.select_option("#bench-measure", "cost")
    page.wait_for_selector(".bench-figures:has-text('cost per row (less is better)')")
    assert "ROC AUC on 100 rows that were sealed" in page.inner_text(".bench-figures")

"""The site in a real browser: every kind of page, search, keys, exercises, and the way to twelve answers and more."""

from __future__ import annotations

import functools
import re
import threading
import tomllib
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

QUESTIONS = tomllib.loads((Path(__file__).parent / "site_questions.toml").read_text(encoding="utf-8"))["question"]
# One page of each kind.
KINDS = [
    "index.html", "show-a-decision/index.html", "show-a-decision/first-tree.html", "check-by-hand/movies.html",
    "check-by-hand/measured-mornings.html", "ship-it/export.html", "guides/index.html",
    "guides/looking/contributions.html", "gallery/index.html",
    "gallery/trees.html", "coming-from/rpart-partykit.html", "reference/parameters.html",
    "reference/api/DecisionTreeClassifier.html", "reference/api/commands.html", "numbers/benchmarks.html",
    "glossary.html", "decisions/0017-the-site.html", "search.html",
]  # fmt: skip
# Every kind in each width and each scheme; the landing page in all four ways.
LOOKS = [(path, width, scheme) for path in KINDS for width, scheme in ((1280, "light"), (390, "dark"))]
LOOKS += [(KINDS[0], width, scheme) for width, scheme in ((1280, "dark"), (390, "light"))]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def address(site):
    """Where the site is served on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def context_of(chromium):
    """A context of the browser for each kind of window, kept: what a page loaded, the next has at hand."""
    kept = {}

    def context(width, height, scheme):
        look = (width, height, scheme)
        if look not in kept:
            kept[look] = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        return kept[look]

    yield context
    for each in kept.values():
        each.close()


@pytest.fixture
def visit(context_of, address):
    """Opens a page of the site; at the end none has complained, or asked for anything elsewhere."""
    pages, complaints, requests = [], [], []

    def open_page(path, *, width=1280, height=900, scheme="light"):
        page = context_of(width, height, scheme).new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address + path)
        page.wait_for_load_state("load")
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert complaints == [], "a page wrote errors to the console"
    assert [url for url in requests if not url.startswith((address, "data:", "blob:"))] == [], "a page asked elsewhere"


@pytest.mark.parametrize(("path", "width", "scheme"), LOOKS)
def test_a_page_has_no_serious_faults_and_fits_the_window(visit, faults, path, width, scheme):
    page = visit(path, width=width, scheme=scheme)

    assert faults(page) == []
    for part in ("html", ".bd-article-container"):  # the theme lets the article scroll by itself
        beyond = page.evaluate("part => (e => e.scrollWidth - e.clientWidth)(document.querySelector(part))", part)
        assert beyond <= 1, part
    broken = "[...document.images].filter(each => each.complete && each.naturalWidth === 0).map(each => each.src)"
    assert page.evaluate(broken) == []


# A word of letters and digits whose pieces stand on several lines.
BROKEN_WORDS = r"""() => {
  const broken = [], walk = document.createTreeWalker(document.querySelector(".bd-article"), NodeFilter.SHOW_TEXT);
  for (let text = walk.nextNode(); text; text = walk.nextNode()) {
    if (!text.parentElement.closest("td, th")) continue;
    for (const word of text.data.matchAll(/[\p{L}\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""
WITH_TABLES = [
    "show-a-decision/index.html", "ship-it/export.html", "coming-from/rpart-partykit.html", "coming-from/weka.html",
    "reference/parameters.html", "reference/estimators.html", "reference/command-line.html", "numbers/benchmarks.html",
    "numbers/agreement.html", "check-by-hand/chi-squared.html", "glossary.html", "guides/many-trees/boosting.html",
]  # fmt: skip


@pytest.mark.parametrize("path", WITH_TABLES)
def test_a_table_on_a_phone_breaks_no_word(visit, path):
    page = visit(path, width=390)

    assert page.evaluate(BROKEN_WORDS) == []


@pytest.mark.smoke
@pytest.mark.parametrize("path", ["gallery/index.html", "gallery/trees.html", "index.html"])
def test_a_picture_in_the_dark_has_no_white_frame(visit, path):
    page = visit(path, width=390, scheme="dark")
    looks_of = "all => all.map(each => getComputedStyle(each)).map(look => [look.backgroundColor, look.padding])"

    framed = page.locator(".bd-article img").evaluate_all(looks_of)
    assert framed
    assert all(each == ["rgba(0, 0, 0, 0)", "0px"] for each in framed), framed


@pytest.mark.smoke
def test_the_landing_page_shows_the_picture_that_its_code_makes_above_the_fold(visit):
    page = visit("index.html")

    box = page.locator(".hero img").bounding_box()
    assert box["y"] + box["height"] / 2 < 900
    assert box["width"] > 300
    assert page.locator(".doors li").count() == 3


@pytest.mark.smoke
def test_the_report_of_the_landing_page_is_alive(visit):
    page = visit("index.html")

    page.locator(".live-report").scroll_into_view_if_needed()
    report = page.frame_locator(".live-report")
    report.locator("html[data-ready=yes]").wait_for(state="attached")
    cards = report.locator(".tree-card")
    assert cards.count() >= 5
    cards.nth(1).click(position={"x": 12, "y": 12})


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("missing values", "guides/columns/missing-values.html"),
        ("export", "ship-it/export.html"),
        ("prune", "show-a-decision/cutting-back.html"),
        ("random forest", "guides/many-trees/random-forests.html"),
        ("DecisionTreeClassifier", "reference/api/DecisionTreeClassifier.html"),
    ],
)
def test_a_search_finds_the_right_page_first(visit, asked, first):
    page = visit(f"search.html?q={asked.replace(' ', '+')}")

    page.locator("#search-results ul.search li a").first.wait_for()
    page.wait_for_function("!document.querySelector('#search-progress')?.textContent.includes('...')")
    assert first in page.locator("#search-results ul.search li a").first.get_attribute("href").split("#")[0]


@pytest.mark.smoke
def test_the_search_opens_and_goes_by_keys(visit):
    page = visit("index.html")

    page.keyboard.press("Control+k")
    page.keyboard.type("prune")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=prune*")


def test_the_first_tab_leads_to_the_content_and_links_are_reached_by_tab(visit):
    page = visit("show-a-decision/index.html")

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").strip().lower().startswith("skip to main content")
    page.keyboard.press("Enter")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Your first tree":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/first-tree.html")


@pytest.mark.smoke
def test_an_exercise_tells_right_from_wrong_and_shows_its_answer(visit):
    page = visit("check-by-hand/movies.html")

    exercise = page.locator(".exercise:has(form)").first
    wanted = exercise.locator("form").get_attribute("data-answer")
    exercise.locator("input").fill("no such answer")
    exercise.locator("input").press("Enter")
    assert "Not yet" in exercise.locator("output").inner_text()
    exercise.locator("input").fill(str(float(wanted) + 0.0011))
    exercise.locator("input").press("Enter")
    assert "Not yet" in exercise.locator("output").inner_text()
    exercise.locator("input").fill(wanted)
    exercise.get_by_role("button", name="Check").click()
    assert exercise.locator("output").inner_text().endswith("Right.")
    for nearly in (
        f"{1000 * float(wanted):.0f}/1000",
        f"{-1000 * float(wanted):.0f} / -1000",
        wanted.replace(".", ","),
    ):
        exercise.locator("input").fill(nearly)
        exercise.locator("input").press("Enter")
        assert exercise.locator("output").inner_text().endswith("Right."), nearly
    for wrong in (f"{wanted}/2", f"{wanted}/0", f"1/{wanted}/1", "9/", "/20"):
        exercise.locator("input").fill(wrong)
        exercise.locator("input").press("Enter")
        assert "Not yet" in exercise.locator("output").inner_text(), wrong
    assert not exercise.locator("pre").first.is_visible()
    exercise.locator("summary").click()
    assert exercise.locator("pre").first.is_visible()


@pytest.mark.smoke
@pytest.mark.parametrize("question", QUESTIONS, ids=[each["ask"] for each in QUESTIONS])
def test_an_answer_is_three_clicks_from_the_landing_page(visit, question):
    page = visit("index.html")

    assert 1 <= len(question["clicks"]) <= 3
    for text in question["clicks"]:
        before = page.url
        page.locator("article").get_by_role("link", name=re.compile(rf"^{re.escape(text)}$")).first.click()
        page.wait_for_url(lambda url, before=before: url != before)
    assert question["shows"] in page.locator("article").inner_text()


def test_each_door_leads_through_at_most_seven_pages_in_order(visit):
    for door in ("show-a-decision", "check-by-hand", "ship-it"):
        page = visit(f"{door}/index.html")
        listed = page.locator("article ol").first.locator("li > p > a:first-child, li > a:first-child")
        steps = [each.get_attribute("href") for each in listed.all()]
        assert 5 <= len(steps) <= 7, door
        for step in steps:
            page.locator("a.right-next").click()
            page.wait_for_load_state("load")
            assert page.url.endswith(f"{door}/{step}"), (door, step)

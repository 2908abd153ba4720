"""The site from the pages under ``docs``: one command, no network.

    python docs/site/build.py [--out site] [--draft]

    docs/**/*.md --copied--> a folder of sources --Sphinx (conf.py)--> HTML --checked--> site
                     |  every page's program is run, and the files that it writes laid beside it (page_programs)
                     |  the pages of the repository outside docs (changelog, contributing, examples) join them
                     |  a page for each public name and each command (names)
                     |  the gallery's index gets a picture for each page's pictures

Everything that is not right ends the build: a warning of Sphinx, a program that fails or does not print and write
what its page shows, a link or anchor that leads nowhere, an address outside the site that a page would load.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SITE = Path(__file__).resolve().parent
DOCS = SITE.parent
# A file of this name says that a folder is a site that was built here, and which pages were run, in which state.
MARK = ".treewright-site"
ROOT = DOCS.parent
sys.path.insert(0, str(SITE))
# What the build and the programs of pages import beyond the package, by the name under which it is installed.
NEEDED = {
    "treewright": "treewright",
    "lxml": "lxml",
    "matplotlib": "matplotlib",
    "myst_parser": "myst-parser",
    "numpydoc": "numpydoc",
    "pandas": "pandas",
    "pydata_sphinx_theme": "pydata-sphinx-theme",
    "sphinx": "sphinx",
}
absent = [package for module, package in NEEDED.items() if importlib.util.find_spec(module) is None]
if absent:
    sys.exit(
        f"the site cannot be built: {', '.join(absent)} {'is' if len(absent) == 1 else 'are'} not installed; the extra "
        f'dev brings what it needs: pip install -e "{ROOT}[dev]"'
    )

from links import drop_dead_backlinks, faults_of  # noqa: E402
from names import write_names  # noqa: E402
from page_programs import (  # noqa: E402
    LINK,
    blocks_of,
    faults_of_page,
    files_of,
    fingerprint_of,
    outside_code,
    slug_of,
)

# Pages of the repository that lie outside docs, and where they stand on the site.
JOINED = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "examples/README.md": "project/examples.md",
    "benchmarks/README.md": "project/benchmark-scripts.md",
    "benchmarks/reference/README.md": "project/reference-programs.md",
}


def main() -> int:
    """Build, check, and lay the site where it was asked for."""
    asked = argparse.ArgumentParser(description="Build the documentation site.")
    asked.add_argument("--out", type=Path, default=ROOT / "site", help="folder of the site; what is there is replaced")
    asked.add_argument(
        "--draft", action="store_true", help="for writers: grey boxes for made pictures, faults are only told"
    )
    given = asked.parse_args()
    if given.out.exists() and not is_replaceable(given.out):
        print(f"{given.out} holds something other than a site: name another folder with --out", file=sys.stderr)
        return 2
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as work:
        source, html = Path(work) / "source", Path(work) / "html"
        copy_pages(source)
        ran = run_programs(source, skip=given.draft)
        write_gallery(source / "gallery")
        write_names(source / "reference" / "api")
        seconds = time.perf_counter() - begin
        if sphinx(source, html) and not given.draft:
            return 1
        for page, names in ran.items():  # pages that stand in frames are no sources of Sphinx
            for name in names:
                if name.endswith(".html"):
                    place = page.parent.relative_to(DOCS) / name
                    shutil.copy(source / place, html / place)
        drop_dead_backlinks(html)
        faults = faults_of(html)
        if faults:
            print(*faults, f"{len(faults)} faults", sep="\n", file=sys.stderr)
            if not given.draft:
                return 1
        states = {} if given.draft else {str(page.relative_to(DOCS)): fingerprint_of(page) for page in ran}
        (html / MARK).write_text(json.dumps(states), encoding="utf-8")
        if given.out.exists():
            shutil.rmtree(given.out)
        shutil.copytree(html, given.out)
    n_pages = sum(1 for _ in given.out.rglob("*.html"))
    print(f"{given.out}: {n_pages} pages in {time.perf_counter() - begin:.0f} s, programs {seconds:.0f} s")
    return 0


def is_replaceable(out: Path) -> bool:
    """Whether nothing is lost when a site takes the place of a folder: it is empty, or a site that was built before."""
    return not out.is_symlink() and out.is_dir() and ((out / MARK).is_file() or not any(out.iterdir()))


def copy_pages(source: Path) -> None:
    """All pages and pictures of docs, and those of the repository that join them; links lead where they led."""
    for path in DOCS.rglob("*"):
        if path.is_file() and SITE not in path.parents:
            target = source / path.relative_to(DOCS)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".md":
                target.write_text(relinked(path, path.read_text(encoding="utf-8")), encoding="utf-8")
            else:
                shutil.copy(path, target)
    for name, place in JOINED.items():
        target = source / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(relinked(ROOT / name, (ROOT / name).read_text(encoding="utf-8")), encoding="utf-8")


def place_of(path: Path) -> Path | None:
    """Where a file of the repository stands among the sources, or None: then it is not on the site."""
    name = path.relative_to(ROOT).as_posix()
    if name in JOINED:
        return Path(JOINED[name])
    return path.relative_to(DOCS) if path.is_relative_to(DOCS) and path.suffix else None


def relinked(page: Path, text: str) -> str:
    """A page's text with the links between files that move; a link to what is not on the site keeps its words."""
    own = place_of(page) or page

    def moved(found: re.Match[str]) -> str:
        words, link = found[1], found[2]
        path, _, anchor = link.partition("#")
        if "://" in link or not path or link.startswith("mailto:"):
            return found[0]
        target = (page.parent / path).resolve()
        if not target.exists():
            if page.is_relative_to(DOCS):
                return found[0]  # a file that the page's program writes
            raise SystemExit(f"{page.relative_to(ROOT)}: nothing is at {link}")
        place = place_of(target / "README.md" if target.is_dir() and target != DOCS else target)
        if place is None:
            return words
        return f"[{words}]({os.path.relpath(place, own.parent)}{'#' * bool(anchor)}{anchor})"

    return outside_code(lambda prose: LINK.sub(moved, prose), text)


def run_programs(source: Path, *, skip: bool) -> dict[Path, list[str]]:
    """Run the pages; the files that each wrote lie beside its copy. Without programs only grey boxes lie there."""
    wanted = {page: files_of(page, page.read_text(encoding="utf-8")) for page in pages_that_run()}
    places = [page.parent / name for page, names in wanted.items() for name in names]
    twice = sorted({str(place.relative_to(ROOT)) for place in places if places.count(place) > 1})
    if twice:
        raise SystemExit(f"two pages show a file of one name: {', '.join(twice)}")
    run = grey if skip else run_program
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        jobs = [
            threads.submit(run, page, names, source / page.parent.relative_to(DOCS)) for page, names in wanted.items()
        ]
        faults = [fault for job in jobs for fault in job.result()]
    if faults:
        raise SystemExit("\n".join([*faults, f"{len(faults)} faults of programs"]))
    return wanted


def pages_that_run() -> list[Path]:
    """Pages with a program; records of decisions quote code, and what it printed then."""
    pages = (page for page in sorted(DOCS.rglob("*.md")) if "decisions" not in page.parts)
    return [page for page in pages if blocks_of(page.read_text(encoding="utf-8"))]


def run_program(page: Path, names: list[str], target: Path) -> list[str]:
    """Run one page in a folder of its own, and lay its files into ``target``; the faults of the page."""
    with tempfile.TemporaryDirectory() as folder:
        faults = faults_of_page(page, Path(folder))
        for name in names if not faults else ():
            shutil.copy(Path(folder, name), target / name)
    return faults


def grey(page: Path, names: list[str], target: Path) -> list[str]:
    """Boxes in place of what a program would write."""
    shape = '<rect width="400" height="200" fill="#ccc"/>'
    box = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 200">{shape}</svg>'
    for name in names:
        (target / name).write_text(box, encoding="utf-8")
    return []


def write_gallery(folder: Path) -> None:
    """Put below each page that the gallery's index lists its pictures, each a link to the code that makes it."""
    index = folder / "index.md"
    text = index.read_text(encoding="utf-8")
    pieces = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    for at, piece in enumerate(pieces):
        found = re.match(r"## \[.*?\]\((.+?)\.md\)\n", piece)
        if found:
            cards = cards_of(found[1], (folder / f"{found[1]}.md").read_text(encoding="utf-8"))
            pieces[at] = f'{piece.rstrip()}\n\n<div class="gallery">\n\n{cards}\n\n</div>\n\n'
    index.write_text("".join(pieces), encoding="utf-8")


def cards_of(name: str, page: str) -> str:
    """A list of the sections of a page that show a picture: the first picture and the heading, as links."""
    cards = []
    for heading, body in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, flags=re.MULTILINE | re.DOTALL):
        picture = re.search(r"!\[[^\]]*\]\(([^)\s]+)\)", body)
        if picture:
            cards.append(f"- [![]({picture[1]})<br>{heading}]({name}.md#{slug_of(heading)})")
    return "\n".join(cards)


def sphinx(source: Path, html: Path) -> int:
    """Run Sphinx; every warning is a fault."""
    from sphinx.cmd.build import main as build

    words = ["-q", "-W", "--keep-going", "-j", "auto", "-b", "html", "-c", str(SITE)]
    return build([*words, "-d", str(html.parent / "doctrees"), str(source), str(html)])


if __name__ == "__main__":
    sys.exit(main())

"""The README's commands and programs do what it says."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
import ready_process

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
SETS_UP = re.compile(r"^(python -m venv|pip install|pytest)\b")


def programs(number, kind, text, folder):
    """The block as modules and their arguments, less the lines that set an environment up."""
    if kind == "python":
        (folder / f"block_{number}.py").write_text(text, encoding="utf-8")
        return [[f"block_{number}"]]
    lines = [line for line in text.splitlines() if line.strip() and not SETS_UP.match(line)]
    return [shlex.split(line) for line in lines]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "examples", folder / "examples")
    return folder


def test_every_block_runs_in_order_and_says_what_the_readme_promises(folder, surroundings):
    said = []
    for number, (kind, text) in enumerate(BLOCKS):
        for module, *words in programs(number, kind, text, folder):
            done = ready_process.run(module, words, folder, surroundings, strict=kind == "python", timeout=500)
            assert done.returncode == 0, (module, words, done.stderr)
            said.append(done.stdout)

    assert len(said) == 5
    assert "held-out accuracy" in said[0]
    assert {path.name for path in folder.iterdir()} >= {"penguins.tw", "penguins.svg", "predictions.csv"}


def test_the_first_screen_installs_and_runs_the_main_job_and_the_tests():
    first_screen = "\n".join(README.splitlines()[:24])

    assert "pip install .\ntreewright fit examples/penguins.csv --target species" in first_screen
    assert 'pip install -e ".[dev]"\npytest' in first_screen


def test_every_link_leads_to_a_file():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]

    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []

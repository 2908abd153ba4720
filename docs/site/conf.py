"""Sphinx's configuration. What is done to pages while they are read: navigation, exercises, glossary_links, names."""

from __future__ import annotations

import sys
from pathlib import Path

SITE = Path(__file__).resolve().parent
sys.path.insert(0, str(SITE))

import treewright  # noqa: E402

project = "Treewright"
author = "the authors of Treewright"
copyright = "the authors of Treewright, Apache-2.0"  # noqa: A001 - Sphinx's word
version = release = treewright.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "numpydoc",
    "navigation",
    "exercises",
    "glossary_links",
    "names",
]
root_doc = "index"
exclude_patterns: list[str] = []
nitpicky = False

smartquotes = False  # an option is --target, not a dash and a word
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
suppress_warnings: list[str] = []

autodoc_typehints = "none"  # numpydoc's sections say it, with units and ranges
autodoc_member_order = "groupwise"
autodoc_default_options = {"members": True, "inherited-members": True}
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_show_inherited_class_members = False
numpydoc_class_members_toctree = False
viewcode_line_numbers = True

html_theme = "pydata_sphinx_theme"
html_title = "Treewright"
html_static_path = ["static"]
html_favicon = str(SITE / "static" / "favicon.svg")
html_css_files = ["style.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_search_scorer = str(SITE / "static" / "scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_permalinks_icon = "#"
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "Treewright"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}

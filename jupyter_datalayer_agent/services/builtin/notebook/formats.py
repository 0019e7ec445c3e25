"""The formats to which nbconvert can export on this machine."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import shutil
from importlib.metadata import entry_points

LABELS = {
    "html": "HTML",
    "webpdf": "PDF",
    "pdf": "PDF (LaTeX)",
    "script": "script",
    "slides": "slides",
    "markdown": "Markdown",
    "latex": "LaTeX",
    "rst": "reStructuredText",
    "asciidoc": "AsciiDoc",
}
"""What the user reads for an exporter of nbconvert."""

# Programs that an exporter calls: nbconvert finds out only while it exports.
_PROGRAMS = {
    "pdf": ("xelatex", "pandoc"),
    "latex": ("pandoc",),
    "rst": ("pandoc",),
    "asciidoc": ("pandoc",),
}


_PANDOC = "pandoc on the server (`apt install pandoc`, or `conda install pandoc`)"
_NEEDS = {
    "webpdf": "Playwright with its Chromium in the server's environment: `pip install \"nbconvert"
    '[webpdf]"`, then `playwright install chromium`',
    "latex": _PANDOC,
    "rst": _PANDOC,
    "asciidoc": _PANDOC,
}


def lacking() -> dict[str, str]:
    """The exporters that do not work here, each with a sentence that says what to install. Of the
    two for PDF the simpler one, where neither works."""
    works = formats()
    return {
        name: f"{LABELS[name]} needs {needs}."
        for name, needs in _NEEDS.items()
        if name not in works and not (name == "webpdf" and "pdf" in works)
    }


def formats() -> dict[str, str]:
    """The exporters that work here, with what they are called."""
    # By their entry points: importing nbconvert to ask it takes seconds.
    names = {each.name for each in entry_points(group="nbconvert.exporters")}
    return {name: label for name, label in LABELS.items() if name in names and _works(name)}


def _works(name: str) -> bool:
    if name == "webpdf":
        return _browser()
    return all(shutil.which(program) for program in _PROGRAMS.get(name, ()))


@functools.lru_cache(maxsize=1)
def _browser() -> bool:
    """Whether Playwright's Chromium starts, which makes PDF files. Which of its executables that is
    depends on the version of Playwright."""
    if importlib.util.find_spec("playwright") is None:
        return False
    playwright = importlib.import_module("playwright.sync_api")
    try:
        with playwright.sync_playwright() as started:
            started.chromium.launch().close()
            return True
    except (playwright.Error, OSError):
        return False

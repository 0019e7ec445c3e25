"""Exports a notebook by nbconvert, running nothing of it."""

from __future__ import annotations

import asyncio
import functools
import importlib
import importlib.util
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel

from ....notebook import nbconvert_process as process
from ....opening import NotRead, read
from ....protocol.limits import MAX_EXPORT_BYTES, MAX_NOTEBOOK_BYTES
from ...action import (
    Action,
    ActionFailed,
    ActionResult,
    Option,
    Progress,
    beside,
    new_file,
    parameter,
    write_new,
)
from ..environment.programs import run

LONGEST = 600.0
"""Seconds after which an export is ended."""

# The formats to which nbconvert can export on this machine.


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


class Export(Action):
    """Exports the notebook as it is in its file."""

    id = "export"
    title = "Export the notebook"
    description = "Writes the notebook in another format, beside it. None of its code is run."
    examples = (
        "Export this notebook as HTML",
        "Convert the notebook to slides",
        "Save the notebook as a PDF",
    )

    class Parameters(BaseModel):
        """What is exported, to what, and where."""

        notebook: str = parameter(title="Notebook", kind="notebook")
        format: str = parameter(title="Format")
        target: str | None = parameter(
            None,
            title="File",
            description="A name, for a file beside the notebook, or a path from the server's root.",
            kind="new-path",
        )

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name == "notebook":
            return await notebooks(self.context.files())
        if name != "format":
            return None
        there, absent = await asyncio.to_thread(lambda: (formats(), lacking()))
        return [
            *(Option(*each) for each in there.items()),
            *(Option(n, f"{LABELS[n]} (not installed)", (LABELS[n],)) for n in absent),
        ]

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        absent = await asyncio.to_thread(lacking)
        name = parameters.format
        return {"format": absent[name]} if name in absent else {}

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        saved = await self.context.content(parameters.notebook, MAX_NOTEBOOK_BYTES)
        source = await self.context.path(parameters.notebook)
        await progress(f"Exporting to {LABELS[parameters.format]}")
        root = await self.context.path(".")
        made = await convert(saved, source, root, parameters.format)
        target = beside(parameters.notebook, parameters.target, made.suffix)
        path = await new_file(self.context, target)
        pictures = path.with_name(f"{path.stem}_files")
        if made.files:
            _write_files(pictures, made.files)
            made.refer_to(source.stem, path.stem)
        try:
            write_new(path, made.body)
        except ActionFailed:
            if made.files:
                shutil.rmtree(pictures)
            raise
        note = f" Its pictures are in `{pictures.name}`." if made.files else ""
        folder = PurePosixPath(target).parent
        paths = [target, *(str(folder / pictures.name / name) for name in made.files)]
        return ActionResult(f"Exported `{parameters.notebook}` to `{target}`.{note}", paths)


async def notebooks(files: Any) -> list[str]:
    """Of the files those that are notebooks."""
    return [each for each in await files if each.endswith(".ipynb")]


@dataclass
class Made:
    """What an exporter made: the file, its suffix, and the files that it refers to, by name."""

    body: bytes
    suffix: str
    files: dict[str, bytes]

    def refer_to(self, before: str, now: str) -> None:
        """The folder of the pictures has the name of the file, and not of the notebook."""
        if before != now:
            for old, new in {(before, now), (quote(before), quote(now))}:
                self.body = self.body.replace(f"{old}_files/".encode(), f"{new}_files/".encode())


async def convert(notebook: bytes | str, source: Path, root: Path, format: str) -> Made:
    """Export the text of a notebook, which was read from ``source`` in the server's ``root``, by
    nbconvert's exporter ``format``. A cancellation ends the process.

    Raises ``ActionFailed``.
    """
    content = notebook if isinstance(notebook, bytes) else notebook.encode("utf-8")
    with tempfile.TemporaryDirectory(prefix="datalayer-export-") as folder:
        work = Path(folder)
        await asyncio.to_thread((work / process.NOTEBOOK).write_bytes, content)
        job = json.dumps({"format": format, "source": str(source), "root": str(root)})
        command = [sys.executable, "-m", process.__name__, job]
        try:
            done = await asyncio.wait_for(run(command, directory=work), LONGEST)
        except asyncio.TimeoutError as error:
            raise ActionFailed(
                f"The export took longer than {LONGEST / 60:.0f} minutes and was stopped."
            ) from error
        if not (work / process.ANSWER).exists():
            raise ActionFailed(f"The export ended before its time:\n\n```\n{done.tail}\n```")
        return await asyncio.to_thread(_made, work)


def _made(work: Path) -> Made:
    answer = json.loads(read(work / process.ANSWER, MAX_EXPORT_BYTES))
    if "error" in answer:
        raise ActionFailed(f"The notebook could not be exported: {answer['error']}")
    folder = work / process.FILES
    try:
        files = {name: read(folder / name, MAX_EXPORT_BYTES) for name in answer["files"]}
        return Made(read(work / process.BODY, MAX_EXPORT_BYTES), answer["suffix"], files)
    except NotRead as error:
        raise ActionFailed(f"The exported file {error.strerror}.") from error


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    try:
        folder.mkdir()
    except FileExistsError as error:
        raise ActionFailed(
            f"{folder.name} already exists. Choose another name, or delete the folder first."
        ) from error
    try:
        for name, data in files.items():
            write_new(folder / name, data)
    except ActionFailed:
        shutil.rmtree(folder)
        raise

"""Exports a notebook by nbconvert: ``python -m jupyter_datalayer_agent.notebook.nbconvert_process
<job>`` in an empty working folder, in which the notebook is ``notebook.ipynb``.

A process of its own, since TeX and a browser act on what a stranger's notebook says: they read
nothing but the pictures that the notebook shows, and are ended where they do not end. It imports
little of ours, since each export starts it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from ..opening import read
from ..protocol.limits import MAX_EXPORT_BYTES, MAX_NOTEBOOK_BYTES
from .kernel.confinement import confinement

NOTEBOOK = "notebook.ipynb"
ANSWER = "answer.json"
BODY = "body"
FILES = "files"
MOST_PICTURE_BYTES = 50_000_000
MOST_ERROR = 2_000
"""Characters of what an exporter says of its failure."""
_PICTURE = r"\includegraphics"
"""TeX's command that shows a picture."""

TEX = {"openin_any": "p", "openout_any": "p", "shell_escape": "f"}
"""TeX's own switches: it opens no file by an absolute path or in a parent folder, and starts no
program."""


def main(job: str) -> None:
    """Do a job, which is JSON: the exporter's ``format``, the ``source`` from which the notebook
    was read, and the server's ``root``. ``ANSWER`` describes what is in the working folder then."""
    os.environ.update(TEX)
    # jsonschema imports it, where it is, for a check of addresses that nothing here makes: 2 s.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    tempfile.tempdir = os.getcwd()
    try:
        answer = _export(**json.loads(job))
    except Exception as error:  # noqa: BLE001 - an exporter may raise anything, and is quoted
        said = str(error).strip() or type(error).__name__
        if len(said) > MOST_ERROR:
            said = f"{said[: MOST_ERROR // 4]}\n…\n{said[-MOST_ERROR * 3 // 4 :]}"
        answer = {"error": said}
    Path(ANSWER).write_text(json.dumps(answer), encoding="utf-8")


def _export(format: str, source: str, root: str) -> dict[str, Any]:
    import nbformat
    from traitlets.config import Config

    place = Path(source)
    resources = {
        "metadata": {"name": place.stem, "path": str(place.parent)},
        "output_files_dir": f"{place.stem}_files",
        "unique_key": place.stem,
    }
    # Else a folder of the exporter's name in the current one, which may be a stranger's, has the
    # templates, and these are code.
    config = Config({"TemplateExporter": {"extra_template_basedirs": []}})
    notebook = nbformat.reads(read(NOTEBOOK, MAX_NOTEBOOK_BYTES), as_version=4)  # type: ignore[no-untyped-call]
    language = notebook.metadata.get("language_info", {})
    if "." in str(language.get("nbconvert_exporter", "")):
        # The path of any class: it would be imported and called.
        del language["nbconvert_exporter"]
    exporter = _exporter(format, place.parent, root)(config=config)
    body, resources = exporter.from_notebook_node(notebook, resources=resources)
    files = {PurePosixPath(path).name: data for path, data in (resources["outputs"] or {}).items()}
    Path(FILES).mkdir()
    for name, data in files.items():
        Path(FILES, name).write_bytes(data)
    Path(BODY).write_bytes(body if isinstance(body, bytes) else body.encode("utf-8"))
    return {"suffix": str(resources["output_extension"]), "files": list(files)}


def _exporter(format: str, folder: Path, root: str) -> Any:
    from nbconvert.exporters.base import get_exporter

    base: Any = get_exporter(format)  # type: ignore[no-untyped-call]
    if format == "pdf":

        class TexExporter(base):  # type: ignore[misc]
            """Of the notebook's folder, TeX reads only the pictures that the notebook shows."""

            def run_latex(self, filename: str, *arguments: Any) -> Any:
                self.texinputs = ""
                tex = read(filename, MAX_EXPORT_BYTES).decode("utf-8")
                Path(filename).write_text(_with_own_pictures(tex, folder, root), encoding="utf-8")
                _confine()
                return super().run_latex(filename, *arguments)

        return TexExporter
    if format == "webpdf":

        class BrowserExporter(base):  # type: ignore[misc]
            """The page has no address, so it cannot open a file of this computer."""

            def run_playwright(self, html: str) -> bytes:
                return _printed(html, self.page_render_timeout)

        return BrowserExporter
    return base


_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc", "/opt", "/var/lib", "/var/cache")
_FONTS = ("~/.fonts", "~/.local/share/fonts")
_TEX_FOLDERS = "$TEXMFROOT:$TEXMFHOME:$TEXMFVAR:$TEXMFCONFIG:$TEXMFLOCAL"


@functools.cache
def _confine() -> None:
    """Hold this process, where the system can, to reading programs, fonts, TeX's files and its
    working folder: pictures and ``\\special`` pass TeX's own switches."""
    program = shutil.which("kpsewhich")
    if program is None:
        return  # Another TeX than TeX Live; where its files are is not known.
    asked = [program, "-expand-var", _TEX_FOLDERS]
    tex = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    fonts = map(os.path.expanduser, _FONTS)
    readable = (*_SYSTEM, sys.prefix, sys.base_prefix, *sys.path, *tex.split(os.pathsep), *fonts)
    held = confinement(False, tempfile.gettempdir(), tuple(filter(None, readable)))
    if held is not None:
        held.apply()


def _with_own_pictures(tex: str, folder: Path, root: str) -> str:
    """The text of a TeX file, in which each picture is a copy in the working folder: of one that
    the exporter wrote there, or of one in the root. In place of any other there is its name."""
    copies = Path(Path(tempfile.mkdtemp(dir=".")).name)
    here = str(Path.cwd())
    # Before it the exporter's template defines commands.
    head, begin, body = tex.partition(r"\begin{document}")
    before, *shown = body.split(_PICTURE)
    parts = [head, begin, before]
    for number, part in enumerate(shown):
        options, argument, rest = _arguments(part)
        name = unquote(argument)
        # A percent sign begins a comment.
        shown_name = name.replace("%", r"\%")
        parts.append(rf"\texttt{{\detokenize{{{shown_name}}}}}")
        for place, within in ((Path(name), here), (folder / name, root)):
            with contextlib.suppress(OSError, ValueError):
                data = read(place, MOST_PICTURE_BYTES, within)
                copy = copies / f"{number}{place.suffix}"
                copy.write_bytes(data)
                parts[-1] = f"{_PICTURE}{options}{{{copy.as_posix()}}}"
                break
        parts.append(rest)
    return "".join(parts)


def _arguments(text: str) -> tuple[str, str, str]:
    """What follows a command of TeX: its options with their brackets, its argument, the rest."""
    start = _end_of(text, "]") if text.startswith("[") else 0
    if not text.startswith("{", start):
        return text[:start], "", text[start:]
    end = start + 1 + _end_of(text[start + 1 :], "}")
    return text[:start], text[start + 1 : end - 1], text[end:]


def _end_of(text: str, bracket: str) -> int:
    """The place after a bracket that is in no braces; the start where there is none."""
    depth = 0
    for place, character in enumerate(text):
        if character == bracket and depth == 0:
            return place + 1
        depth += {"{": 1, "}": -1}.get(character, 0)
    return 0


def _printed(html: str, milliseconds: int) -> bytes:
    """The page as a PDF. It has no address, so that its scripts cannot open a ``file:``. It loads
    from ``https:`` addresses only, which plotting libraries need."""
    # By its name: it is there only where `nbconvert[webpdf]` is installed.
    sync_playwright = importlib.import_module("playwright.sync_api").sync_playwright

    def load(route: Any) -> None:
        if route.request.url.startswith("https:"):
            route.continue_()
        else:
            route.abort()

    with sync_playwright() as started:
        browser = started.chromium.launch()
        # Of all its pages, since a script may open others.
        context = browser.new_context(service_workers="block")
        context.route("**/*", load)
        context.route_web_socket("**", lambda socket: socket.close())
        page = context.new_page()
        page.emulate_media(media="print")
        page.set_content(html, wait_until="networkidle")
        page.wait_for_timeout(milliseconds)
        printed: bytes = page.pdf(print_background=True)
        browser.close()
    return printed


if __name__ == "__main__":
    main(sys.argv[1])

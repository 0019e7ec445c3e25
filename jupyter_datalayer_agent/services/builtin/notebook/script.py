"""A notebook as a Python script with ``# %%`` lines, and back."""

from __future__ import annotations

import ast
import asyncio
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from ....notebook.edits.batch import new_cell, source_of
from ...action import (
    Action,
    ActionFailed,
    ActionResult,
    Progress,
    beside,
    new_file,
    parameter,
    write_new,
)
from .export import notebooks
from .parts import as_text, language_of

# Notebooks as Python scripts with ``# %%`` lines, and back (the "percent" format).
#
# Each cell begins with a line ``# %%``, ``# %% [markdown]`` or ``# %% [raw]``, with the cell's id
# and metadata after it as ``key=value`` in JSON. Text and raw cells are comments; so are IPython's
# magics and shell commands, which a Python interpreter does not know. What a script cannot hold in
# that way (such as a comment that looks like one of these lines) is in the first line as
# ``source=``, so that every source comes back as it was. Outputs are not written.


MARK = re.compile(r"^# ?%%(?:[ \t]+(.*))?$")
_VALUE = re.compile(r"(?<![\w.-])([A-Za-z_][\w.-]*)=")
_NEXT = re.compile(r"\s*([A-Za-z_][\w.-]*)=")
_KIND = re.compile(r"\[(markdown|md|raw)\]$")
_MAGIC = re.compile(r"^[ \t]*(?:[%!?]|[\w.]+\?{1,2}[ \t]*$)")
_CELL_MAGIC = re.compile(r"^%%\w")
_CELL_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_HEADER = "# ---"
_OWN = ("id", "source", "metadata", "attachments")
# What belongs to a run, or to how a cell is shown.
_NOT_WRITTEN = ("execution", "trusted", "collapsed", "scrolled")


def to_script(notebook: Mapping[str, Any]) -> str:
    """The script of an nbformat notebook of Python."""
    spec = notebook["metadata"].get("kernelspec")
    head = []
    if spec:
        head = [_HEADER, f"# kernelspec: {json.dumps(spec, ensure_ascii=False)}", _HEADER, ""]
    return "\n".join(head) + "\n".join(map(_cell_text, notebook["cells"]))


def from_script(text: str) -> dict[str, Any]:
    """The nbformat notebook of a script; one without ``# %%`` lines is one cell."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    metadata, lines = _header(lines)
    cells: list[dict[str, Any]] = []
    taken: set[str] = set()
    mark: re.Match[str] | None = None
    body: list[str] = []

    def finish() -> None:
        if mark is None and not "".join(body).strip():
            return
        cell = _cell(mark[1] if mark is not None else None, body)
        while cell["id"] in taken or not _CELL_ID.match(cell["id"]):
            cell["id"] = secrets.token_hex(4)
        taken.add(cell["id"])
        cells.append(cell)

    for line in lines:
        if (found := MARK.match(line)) is not None:
            finish()
            mark, body = found, []
        else:
            body.append(line)
    finish()
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}


def _cell_text(cell: Mapping[str, Any]) -> str:
    kind, source = cell["cell_type"], source_of(cell)
    known = {k: v for k, v in cell.get("metadata", {}).items() if k not in _NOT_WRITTEN}
    values = {"id": cell["id"]}
    if cell.get("attachments"):
        values["attachments"] = cell["attachments"]
    if known:
        values["metadata"] = known
    body = _body(kind, source)
    if not _holds(kind, body, source):
        body, values = "", {**values, "source": source}
    title = "" if kind == "code" else f" [{kind}]"
    written = " ".join(f"{k}={json.dumps(v, ensure_ascii=True)}" for k, v in values.items())
    return f"# %%{title} {written}\n{body}\n" if body else f"# %%{title} {written}\n"


def _holds(kind: str, body: str, source: str) -> bool:
    """Whether the source comes back of these lines."""
    return (
        not any(map(MARK.match, body.split("\n")))
        and "\r" not in body
        and body.encode("utf-8", "ignore").decode() == body
        and _source(kind, body.strip("\n")) == source
    )


def _cell(rest: str | None, lines: list[str]) -> dict[str, Any]:
    title, named, values = _mark(rest or "")
    kind: Any = {"markdown": "markdown", "md": "markdown", "raw": "raw"}.get(named, "code")
    body = "\n".join(lines).strip("\n")
    source = values.get("source")
    cell = new_cell(
        str(values.get("id") or secrets.token_hex(4)),
        kind,
        source if isinstance(source, str) else _source(kind, body),
    )
    # Jupytext writes each key of the metadata by itself.
    cell["metadata"] = {k: v for k, v in values.items() if k not in _OWN}
    if isinstance(known := values.get("metadata"), dict):
        cell["metadata"] |= known
    if kind != "code" and isinstance(attachments := values.get("attachments"), dict):
        cell["attachments"] = attachments
    if title:
        cell["metadata"] = {"title": title, **cell["metadata"]}
    return cell


def _mark(rest: str) -> tuple[str, str, dict[str, Any]]:
    """What a cell's mark says: ``title [markdown] key=value``."""
    first = _VALUE.search(rest)
    title = (rest if first is None else rest[: first.start()]).rstrip()
    kind = _KIND.search(title)
    if kind is not None:
        title = title[: kind.start()]
    return title.strip(), kind[1] if kind else "", _values(rest, first)


def _values(text: str, match: re.Match[str] | None) -> dict[str, Any]:
    """The ``key=value`` in JSON from the first on; what is none of these ends them."""
    decoder = json.JSONDecoder()
    values: dict[str, Any] = {}
    while match is not None:
        try:
            values[match[1]], end = decoder.raw_decode(text, match.end())
        except (json.JSONDecodeError, RecursionError):
            break
        match = _NEXT.match(text, end)
    return values


def _header(lines: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The notebook's metadata of the lines between two ``# ---``, and the other lines."""
    if not lines or lines[0].rstrip() != _HEADER:
        return {}, lines
    end = next((n for n, line in enumerate(lines) if n and line.rstrip() == _HEADER), 0)
    if not end or not all(line.startswith("#") for line in lines[:end]):
        return {}, lines
    metadata: dict[str, Any] = {}
    for line in lines[1:end]:
        match = re.match(r"# kernelspec: (\{.*\})\s*$", line)
        if match:
            try:
                metadata["kernelspec"] = json.loads(match[1])
            except json.JSONDecodeError:
                continue
    return metadata, lines[end + 1 :]


# -- the text of a cell --------------------------------------------------------------------------


def _body(kind: str, source: str) -> str:
    lines = source.split("\n")
    if kind != "code" or _CELL_MAGIC.match(source):
        return "\n".join(f"# {line}" if line else "#" for line in lines)
    if _is_python(source):
        return source
    return "\n".join(f"# {line}" if _MAGIC.match(line) else line for line in lines)


def _source(kind: str, body: str) -> str:
    lines = body.split("\n")
    commented = all(line.startswith("#") for line in lines)
    if (kind != "code" or _CELL_MAGIC.match(body[2:])) and commented:
        return "\n".join(line[2:] if line.startswith("# ") else line[1:] for line in lines)
    if kind != "code":
        return body
    return "\n".join(
        line[2:] if line.startswith("# ") and _MAGIC.match(line[2:]) else line for line in lines
    )


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


_TARGET = "A name, for a file beside it, or a path from the server's root."


class ToScript(Action):
    """Writes a script that can be made a notebook again: text, ids and metadata are kept."""

    id = "to-script"
    title = "Write the notebook as a percent script"
    description = "Writes a Python script with # %% cells that can be made a notebook again."
    examples = (
        "Turn this notebook into a py:percent script",
        "Convert the notebook to a Python script",
        "Write the notebook as a percent script for version control",
        "Make a .py with # %% cells from the notebook, as jupytext does",
    )

    class Parameters(BaseModel):
        """What is written, and where."""

        notebook: str = parameter(title="Notebook", kind="notebook")
        target: str | None = parameter(None, title="File", description=_TARGET, kind="new-path")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return await notebooks(self.context.files()) if name == "notebook" else None

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        notebook = await self.context.read(parameters.notebook)
        if (language := language_of(notebook)) not in (None, "python", "ipython"):
            raise ActionFailed(
                f"The notebook is in {language}, and percent scripts are written for Python only. "
                "Export it as a script instead."
            )
        target = beside(parameters.notebook, parameters.target, ".py")
        path = await new_file(self.context, target)
        write_new(path, await asyncio.to_thread(to_script, notebook))
        return ActionResult(
            f"Wrote `{parameters.notebook}` as `{target}`, without its outputs.", [target]
        )


class FromScript(Action):
    """Makes a notebook of a script; nothing of it is run."""

    id = "from-script"
    title = "Make a notebook of a script"
    description = "Makes a new notebook of a Python script, a cell for each # %% line."
    examples = (
        "Make a notebook from analysis.py",
        "Turn the script train.py into a notebook",
        "Convert my .py file back to a notebook",
    )

    class Parameters(BaseModel):
        """What is read, and where it is written."""

        script: str = parameter(title="Script", kind="path")
        target: str | None = parameter(
            None, title="New notebook", description=_TARGET, kind="new-path"
        )

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name != "script":
            return None
        return [each for each in await self.context.files() if each.endswith(".py")]

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        target = beside(parameters.script, parameters.target, ".ipynb")
        path = await new_file(self.context, target)
        notebook = from_script(await self.context.text(parameters.script))
        write_new(path, as_text(notebook))
        count = len(notebook["cells"])
        cells = f"{count} cell{'' if count == 1 else 's'}"
        return ActionResult(f"Made `{target}` of `{parameters.script}`: {cells}.", [target])

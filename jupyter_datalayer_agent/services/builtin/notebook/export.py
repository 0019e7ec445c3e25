"""Exports a notebook by nbconvert."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ...action import Action, ActionFailed, ActionResult, Option, Progress, parameter

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


class Export(Action):
    """Exports the notebook as it is in its file, beside it."""

    id = "export"
    title = "Export the notebook"
    description = "Writes the notebook in another format, beside it."
    examples = ("Export this notebook as HTML", "Convert the notebook to a script")

    class Parameters(BaseModel):
        """What is exported, and to what."""

        notebook: str = parameter(title="Notebook", kind="notebook")
        format: str = parameter(title="Format")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name == "notebook":
            return [each for each in await self.context.files() if each.endswith(".ipynb")]
        if name != "format":
            return None
        names = await asyncio.to_thread(_formats)
        return [Option(each, label) for each, label in LABELS.items() if each in names]

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        source = await self.context.path(parameters.notebook)
        label = LABELS[parameters.format]
        await progress(f"Exporting to {label}")
        written = await asyncio.to_thread(_export, source, parameters.format)
        path = str(Path(parameters.notebook).parent / written.name)
        return ActionResult(f"Exported `{parameters.notebook}` to `{path}`.", [path])


def _formats() -> list[str]:
    from nbconvert.exporters.base import get_export_names

    return [str(each) for each in get_export_names()]  # type: ignore[no-untyped-call]


def _export(source: Path, name: str) -> Path:
    from nbconvert.exporters.base import get_exporter

    try:
        exporter = get_exporter(name)()  # type: ignore[no-untyped-call]
        body, resources = exporter.from_filename(str(source))
    except Exception as error:
        raise ActionFailed(f"The notebook could not be exported: {error}") from error
    target = source.with_suffix(str(resources["output_extension"]))
    if target.exists():
        raise ActionFailed(f"There is a file {target.name} already. Rename or delete it first.")
    if isinstance(body, bytes):
        target.write_bytes(body)
    else:
        target.write_text(body, encoding="utf-8")
    return target

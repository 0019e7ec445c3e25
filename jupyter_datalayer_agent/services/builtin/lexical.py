"""``/lexical``: notebooks as Lexical documents, and back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel

from ...notebook.files.kinds import is_lexical
from ..action import (
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
from ..service import Link, Service, ServiceConfig
from .notebook.export import convert, notebooks
from .notebook.parts import as_text

# A notebook as a Lexical document, and a Lexical document as a notebook, Markdown or HTML.


_TARGET = "A name, for a file beside it, or a path from the server's root."


class ToLexical(Action):
    """Writes a Lexical document with the notebook's text, code and outputs."""

    id = "to-lexical"
    title = "Write the notebook as a Lexical document"
    description = "Writes a Lexical document (.dlex) with the notebook's text, code and outputs."
    examples = ("Turn this notebook into a Lexical document", "Write cars.ipynb as a .dlex")

    class Parameters(BaseModel):
        """What is written, and where."""

        notebook: str = parameter(title="Notebook", kind="notebook")
        target: str | None = parameter(None, title="File", description=_TARGET, kind="new-path")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return await notebooks(self.context.files()) if name == "notebook" else None

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        from ...notebook.lexical.convert import from_notebook, new_document

        notebook = await self.context.read(parameters.notebook)
        target = beside(parameters.notebook, parameters.target, ".dlex")
        path = await new_file(self.context, target)
        blocks = await asyncio.to_thread(from_notebook, notebook)
        write_new(path, new_document(blocks))
        return ActionResult(f"Wrote `{parameters.notebook}` as `{target}`.", [target])


class FromLexical(Action):
    """Writes a Lexical document as a notebook, Markdown or HTML; nothing of it is run."""

    id = "from-lexical"
    title = "Export a Lexical document"
    description = "Writes a Lexical document as a notebook, Markdown or HTML, with its outputs."
    examples = (
        "Make a notebook of the Lexical document report.dlex",
        "Export the Lexical document report.dlex as HTML",
    )

    class Parameters(BaseModel):
        """What is exported, to what, and where."""

        document: str = parameter(title="Lexical document", kind="path")
        format: Literal["notebook", "markdown", "html"] = parameter("notebook", title="Format")
        target: str | None = parameter(None, title="File", description=_TARGET, kind="new-path")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name == "document":
            return [each for each in await self.context.files() if is_lexical(each)]
        if name == "format":
            return [Option("notebook", "Notebook"), Option("markdown", "Markdown"), "html"]
        return None

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        suffix = {"notebook": ".ipynb", "markdown": ".md", "html": ".html"}[parameters.format]
        target = beside(parameters.document, parameters.target, suffix)
        path = await new_file(self.context, target)
        await progress(f"Writing {target}")
        text = await self.context.text(parameters.document)
        name = PurePosixPath(parameters.document).name
        made = await asyncio.to_thread(_exported, text, name, parameters.format)
        if parameters.format == "html":
            source, root = (
                await self.context.path(parameters.document),
                await self.context.path("."),
            )
            made = (await convert(made, source, root, "html")).body
        write_new(path, made)
        return ActionResult(f"Wrote `{parameters.document}` as `{target}`.", [target])


def _exported(text: str, name: str, form: str) -> bytes | str:
    from ...notebook.lexical.convert import document_markdown, to_notebook
    from ...notebook.lexical.editor_state import EditorState, NotLexical

    try:
        state = EditorState.parse(text)
    except NotLexical as error:
        raise ActionFailed(f"{name} is not a Lexical document: {error}.") from error
    if form == "markdown":
        return document_markdown(state)
    return as_text(to_notebook(state))


_CONTEXT = """
# What a Lexical document is
A Lexical document (.dlex or .lexical) is a report of blocks: text, lists, tables, images, equations
and code that runs. It is made with "New Lexical Document" in the launcher, or by the agent.

# Export
A Lexical document is written as a notebook, as Markdown or as HTML, beside it or where you say,
and never in place of another file. Text, code and outputs are kept (Markdown has no outputs); what
Markdown cannot say, as colours and unknown blocks, is not in the export. Nothing is run for it.

# From a notebook
A notebook is written as a Lexical document with its text, code, outputs and attached pictures.
"""

SERVICE = Service(
    id="lexical",
    name="Lexical documents",
    description="Notebooks as Lexical documents, and these as notebooks, Markdown or HTML.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[Link("Lexical", "https://lexical.dev/")],
        topics=["Lexical", "dlex"],
        questions=["Who reads it: somebody with Jupyter, or with a browser only?"],
    ),
    examples=["Export report.dlex as HTML", "What is a Lexical document?"],
    actions=[ToLexical, FromLexical],
    by_command=True,
)

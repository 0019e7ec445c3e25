"""A template's steps carried out in a Lexical document."""

from __future__ import annotations

from typing import Any

from .template_run import ToolTemplateRun

LEXICAL = "lexical"
TOOLS = {
    "createNotebook": "createLexical",
    "addNotebookCell": "insertBlock",
    "runNotebookCells": "runBlock",
}
"""The tools that take the place of those for notebooks."""


def is_for_lexical(parameters: Any) -> bool:
    """Whether the parameters ask for a Lexical document."""
    return getattr(parameters, "format", None) == LEXICAL


def document_name(notebook: str) -> str:
    """The name of the document in place of the notebook's."""
    return notebook.removesuffix(".ipynb")


class LexicalTemplateRun(ToolTemplateRun):
    """One step's ``TemplateRun``: blocks in place of cells."""

    def new_call(self, kind: str, source: str) -> tuple[str, dict[str, Any]]:
        """The call that adds a block, or Markdown's blocks."""
        block = "jupyter-input" if kind == "code" else "markdown"
        return "insertBlock", {"path": self.notebook, "type": block, "content": source}

    def run_call(self, cell_id: str) -> tuple[str, dict[str, Any]]:
        """The call that runs a block."""
        return "runBlock", {"path": self.notebook, "blockId": cell_id}

    def id_in(self, output: dict[str, Any]) -> Any:
        """The id of the new block, or of the first one."""
        blocks = output.get("blocks")
        return blocks[0]["id"] if blocks else None

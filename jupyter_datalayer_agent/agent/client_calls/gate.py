"""The gate of another program's calls: the same rules, explained to its model."""

from __future__ import annotations

from ...tools.gate import Gate, GatedTool, Refusal


class ClientGate(Gate):
    """As ``Gate``; what it says is for a program that names its notebook by ``path``."""

    def refusal(self, tool: GatedTool) -> Refusal | None:
        """See ``Gate.refusal``."""
        if tool.changes and not self.may_change:
            return Refusal(
                f"{tool.name} changes or runs something, which other programs may not do here.",
                f"The setting mcp_mode is {self.mode}; agent lets programs change and run.",
                f"Not done: mcp_mode is {self.mode}",
            )
        return super().refusal(tool)

    def _no_notebook(self) -> Refusal:
        return Refusal(
            "No notebook is named.",
            "Name one with path, or make one with createNotebook.",
            "Not done: no notebook is named",
            lacks_notebook=True,
        )

    def _no_lexical(self) -> Refusal:
        return Refusal(
            "No Lexical document is named.",
            "Name one with path, or make one with createLexical.",
            "Not done: no Lexical document is named",
            lacks_lexical=True,
        )

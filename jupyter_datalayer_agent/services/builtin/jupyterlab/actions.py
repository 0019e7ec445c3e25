"""Commands of the page. It carries out only those that are allowed here and in ``commands.ts``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from ....protocol.page import PageCommand
from ...action import Action, ActionResult, Option, Progress, parameter

THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")
_LAYOUT: Mapping[str, tuple[PageCommand, Mapping[str, Any], str]] = {
    "left": ("application:toggle-left-area", {}, "left sidebar"),
    "right": ("application:toggle-right-area", {}, "right sidebar"),
    "single": ("application:set-mode", {"mode": "single-document"}, "single-document mode"),
    "multiple": ("application:set-mode", {"mode": "multiple-document"}, "multiple-document mode"),
}
_KEYS = {"code": "code-font-size", "text": "content-font-size1", "interface": "ui-font-size1"}


class ChangeTheme(Action):
    """Changes the theme."""

    id = "theme"
    title = "Change the theme"
    description = "Changes the colours of JupyterLab to a light or a dark theme."
    examples = ("Switch JupyterLab to the dark theme", "Use the light theme of JupyterLab")

    class Parameters(BaseModel):
        """Which theme."""

        theme: str = parameter(title="Theme")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        labels = ("light", "dark", "high contrast")
        return [Option(*each) for each in zip(THEMES, labels, strict=True)]

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        await self.context.page("apputils:change-theme", {"theme": parameters.theme})
        return ActionResult(f"The theme is {parameters.theme}.")


class ChangeLayout(Action):
    """Shows and hides the sidebars, and one document or several."""

    id = "layout"
    title = "Change the layout"
    description = "Shows or hides a sidebar, or shows one document alone or several."
    examples = (
        "Toggle the left sidebar",
        "Hide the right sidebar",
        "Turn on single-document mode",
    )

    class Parameters(BaseModel):
        """What is shown, or hidden where it is shown."""

        what: str = parameter(title="Show or hide")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return [Option(key, label) for key, (_, _, label) in _LAYOUT.items()]

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        command, args, label = _LAYOUT[parameters.what]
        await self.context.page(command, args)
        return ActionResult(f"Changed: {label}.")


class OpenFile(Action):
    """Opens a file."""

    id = "open"
    title = "Open a file"
    description = "Opens a file in a tab of JupyterLab."
    examples = ("Open README.md in JupyterLab", "Open the file in a tab")

    class Parameters(BaseModel):
        """Which file."""

        path: str = parameter(title="File", kind="path")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return await self.context.files()

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        await self.context.page("docmanager:open", {"path": parameters.path})
        return ActionResult(f"Opened `{parameters.path}`.", [parameters.path])


class Find(Action):
    """Opens the search of the active document."""

    id = "find"
    title = "Find in the document"
    description = "Opens JupyterLab's search in the active document, with a text."
    examples = ('Find "mpg" in the document', "Search this document for a text")

    class Parameters(BaseModel):
        """What is searched for."""

        text: str = parameter(title="Text", kind="name", min_length=1, max_length=500)

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        await self.context.page("documentsearch:start", {"searchText": parameters.text})
        return ActionResult(f"Searching for “{parameters.text}”.")


class OpenSettings(Action):
    """Opens the settings editor."""

    id = "settings"
    title = "Open the settings"
    description = "Opens JupyterLab's settings editor, at what it is searched for."
    examples = (
        "Open the settings of JupyterLab",
        "Show the keyboard shortcuts in JupyterLab's settings editor",
    )

    class Parameters(BaseModel):
        """What is looked for."""

        query: str | None = parameter(None, title="Search for", kind="name", max_length=200)

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        args = {"query": parameters.query} if parameters.query else {}
        await self.context.page("settingeditor:open", args)
        return ActionResult("Opened the settings.")


class Zoom(Action):
    """Makes text larger or smaller."""

    id = "zoom"
    title = "Change the font size"
    description = "Makes the code, the text or the interface of JupyterLab larger or smaller."
    examples = (
        "Make the font of the code larger",
        "Zoom the interface of JupyterLab in",
        "Smaller font size",
    )

    class Parameters(BaseModel):
        """Of what, and which way."""

        what: Literal["code", "text", "interface"] = parameter("code", title="Font of")
        direction: Literal["larger", "smaller"] = parameter(title="Size")

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        command: PageCommand = (
            "apputils:incr-font-size"
            if parameters.direction == "larger"
            else "apputils:decr-font-size"
        )
        await self.context.page(command, {"key": _KEYS[parameters.what]})
        return ActionResult(f"The {parameters.what} is {parameters.direction}.")

"""``/jupyterlab``: what can be done in the page of JupyterLab itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import BaseModel

from ...protocol.page import PageCommand
from ..action import Action, ActionFailed, ActionResult, Option, Progress, parameter
from ..service import Link, Service, ServiceConfig

# Commands of the page. It carries out only those that are allowed here and in ``commands.ts``.


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


# Runs the active notebook by JupyterLab's own commands, as its Run menu does.


NO_NOTEBOOK = "No notebook is active. Open the notebook that you want to run."


class _Run(Action):
    """Runs ``command`` of the page in the active notebook; ``done`` is the result's text."""

    command: ClassVar[PageCommand]
    done: ClassVar[str]
    lost: ClassVar[str | None] = None

    def destroys(self, known: Mapping[str, Any]) -> str | None:
        """See ``Action``."""
        return self.lost

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        if self.context.notebook is None:
            raise ActionFailed(NO_NOTEBOOK)
        return {}

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        notebook = self.context.notebook
        # The command is about the tab that is active by now, which may be another one.
        await self.context.page("docmanager:open", {"path": notebook})
        await self.context.page(self.command, {})
        return ActionResult(self.done.format(notebook=f"`{notebook}`"))


class RunAll(_Run):
    """Runs all cells."""

    id = "run-all"
    title = "Run all cells"
    description = "Runs all cells of the active notebook in JupyterLab, in the kernel as it is."
    examples = ("JupyterLab: run all", "JupyterLab: run the whole notebook, everything")
    command = "notebook:run-all-cells"
    done = "Running all cells of {notebook}."


class RunSelected(_Run):
    """Runs the selected cells."""

    id = "run-selected"
    title = "Run the selected cells"
    description = "Runs the cells that are selected in the active notebook."
    examples = ("JupyterLab: run the selected cells", "Run the selection in JupyterLab")
    command = "notebook:run-cell"
    done = "Running the selected cells of {notebook}."


class RestartAndRunAll(_Run):
    """Runs the notebook from its beginning in a new kernel."""

    id = "restart-run-all"
    title = "Restart and run all"
    description = "Restarts the active notebook's kernel and runs it all; JupyterLab asks first."
    examples = ("JupyterLab: restart and run all",)
    destructive = True
    lost = "The variables of the active notebook's kernel."
    command = "notebook:restart-run-all"
    done = "JupyterLab asks whether the kernel of {notebook} is to be restarted."


class Interrupt(_Run):
    """Interrupts the kernel."""

    id = "interrupt"
    title = "Interrupt the kernel"
    description = "Ends what the kernel of the active notebook is doing; its variables are kept."
    examples = ("JupyterLab: interrupt", "Interrupt the kernel in JupyterLab")
    destructive = True
    lost = "The cell that is running ends without its result. Variables are kept."
    command = "notebook:interrupt-kernel"
    done = "Interrupted the kernel of {notebook}."


# ``/jupyterlab``: theme, layout, documents, search, settings, font sizes, and running.


_CONTEXT = """
# Theme
JupyterLab has a light theme, a dark one and a dark one with high contrast. Others are extensions.

# Layout
The sidebars are left and right. In single-document mode one document is shown at a time; several
tabs can be placed beside each other in multiple-document mode.

# Find
The search (Ctrl+F, or Cmd+F) finds text in the active document, with replacement; in a notebook it
can also search outputs.

# Settings
The settings editor has the settings of each extension, and the keyboard shortcuts. Ctrl+Shift+C (or
Cmd+Shift+C) opens the command palette, with all commands.

# Font sizes
Code, text and the interface have font sizes of their own.

# Running
The Run menu runs all cells, the selected ones, or restarts the kernel and runs all, which begins
without variables. The Kernel menu interrupts what runs; variables are kept then.
"""

SERVICE = Service(
    id="jupyterlab",
    name="JupyterLab",
    description="Change JupyterLab's theme, layout, font sizes and settings; find files.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[Link("JupyterLab", "https://jupyterlab.readthedocs.io/")],
        topics=["theme", "dark mode", "sidebar", "layout", "settings", "zoom", "JupyterLab"],
        questions=["Is it for this document only, or for all of JupyterLab?"],
    ),
    examples=[
        "Switch JupyterLab to the dark theme",
        "Hide the left sidebar",
        "How do I change a keyboard shortcut?",
    ],
    actions=[
        *(ChangeTheme, ChangeLayout, OpenFile, Find, OpenSettings, Zoom),
        *(RunAll, RunSelected, RestartAndRunAll, Interrupt),
    ],
)

"""``/notebook``: what can be done with a notebook as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from ....notebook.edits.batch import lock_of, outputs_of, source_hash, source_of
from ....protocol.cells import CellEdit, DeleteCell, UpdateCell
from ....protocol.workflows import QualityReport
from ...action import Action, ActionResult, Option, Progress, parameter
from ...service import Link, Service, ServiceConfig
from .export import Export, notebooks
from .parts import Merge, Split
from .script import FromScript, ToScript

# Clears outputs and execution counts, and removes empty cells.


OUTPUTS, EMPTY, COUNTS = "outputs", "empty-cells", "execution-counts"


class Clean(Action):
    """Cleans the notebook in the page that has it open, or in its file. It can be undone."""

    id = "clean"
    title = "Clean the notebook"
    description = "Clears outputs and execution counts, and removes empty cells. Can be undone."
    examples = (
        "Clean up this notebook",
        "Clear all outputs",
        "Strip the outputs and execution counts before I commit",
        "Remove the empty cells",
    )

    class Parameters(BaseModel):
        """What is cleaned, and of what."""

        notebook: str = parameter(title="Notebook", kind="notebook")
        what: list[str] = parameter([OUTPUTS, EMPTY, COUNTS], title="Clean")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name == "notebook":
            return await notebooks(self.context.files())
        if name != "what":
            return None
        return [
            Option(OUTPUTS, "outputs"),
            Option(EMPTY, "empty cells"),
            Option(COUNTS, "execution counts"),
        ]

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        notebook = await self.context.read(parameters.notebook)
        cleaned = edits_to_clean(notebook["cells"], parameters.what)
        if not cleaned:
            return ActionResult(f"`{parameters.notebook}` is clean: there was nothing to do.")
        await progress("Cleaning")
        await self.context.edit(parameters.notebook, cleaned)
        removed = sum(each.op == "delete" for each in cleaned)
        cleared = len(cleaned) - removed
        done = [
            text
            for text, count in (
                (f"cleared {_cells(cleared)}", cleared),
                (f"removed {_cells(removed, 'empty ')}", removed),
            )
            if count
        ]
        result = " and ".join(done)
        return ActionResult(f"{result[0].upper()}{result[1:]} of `{parameters.notebook}`.")


def edits_to_clean(cells: Sequence[Mapping[str, Any]], what: Sequence[str]) -> list[CellEdit]:
    """The edits that clean nbformat cells; none for those that are clean."""
    edits: list[CellEdit] = []
    for cell in cells:
        source = source_of(cell)
        base = source_hash(source)
        is_empty = not source.strip() and not cell.get("attachments")
        if EMPTY in what and is_empty and lock_of(cell, "deletable") is None:
            edits.append(DeleteCell(cell_id=cell["id"], base_hash=base))
            continue
        if cell["cell_type"] != "code":
            continue
        outputs = [] if OUTPUTS in what else [dict(each) for each in outputs_of(cell)]
        count = None if COUNTS in what else cell.get("execution_count")
        if COUNTS in what:
            for each in outputs:
                if "execution_count" in each:
                    each["execution_count"] = None
        if outputs == outputs_of(cell) and count == cell.get("execution_count"):
            continue
        clean = {**cell, "source": source, "outputs": outputs, "execution_count": count}
        edits.append(
            UpdateCell(cell_id=cell["id"], base_hash=base, source=source, type="code", cell=clean)
        )
    return edits


def _cells(count: int, kind: str = "") -> str:
    return f"{count} {kind}cell{'' if count == 1 else 's'}"


# The quality report of a notebook.


MOST = 20


class Quality(Action):
    """Analyses a notebook without running it."""

    id = "quality"
    title = "Check the notebook's quality"
    description = "Reports what could be better in the notebook, without running it."
    examples = (
        "Check the quality of this notebook",
        "Give me a quality report of the notebook",
        "Lint and review this notebook",
    )

    class Parameters(BaseModel):
        """What is analysed."""

        notebook: str = parameter(title="Notebook", kind="notebook")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return await notebooks(self.context.files()) if name == "notebook" else None

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        await progress("Analysing")
        return ActionResult(as_markdown(await self.context.quality(parameters.notebook)))


def as_markdown(report: QualityReport) -> str:
    """The report, with the first 20 issues."""
    lines = [f"**Quality: {report.score} of 100**", ""]
    for issue in report.issues[:MOST]:
        place = f", cell {issue.index + 1}" if issue.index is not None else ""
        lines.append(f"- {issue.severity}{place}: {issue.message}")
    if len(report.issues) > MOST:
        lines.append(f"- and {len(report.issues) - MOST} more")
    if report.suggestions:
        lines += ["", "To improve it:", "", *(f"- {each}" for each in report.suggestions)]
    return "\n".join(lines).strip()


_CONTEXT = """
# Export
A notebook can be exported to the formats that nbconvert has on this server: HTML, Markdown, slides
and a script in the notebook's language, and, where Pandoc is installed, LaTeX, reStructuredText and
AsciiDoc. Nothing of the notebook is run for it.

The export is of the notebook as it is in its file: outputs that are not saved are not in it. An
exported file is written beside the notebook, or where you say, and never in place of another file.
In Markdown, pictures are files of their own in a folder beside it.

# PDF
A PDF is made by LaTeX (`xelatex`, with Pandoc) or by Playwright's Chromium browser. Where neither
is installed, export to HTML and print that from the browser.

# Slides
For slides, each cell's slide type (slide, sub-slide, fragment, skip, notes) is set in the property
inspector. Without any, the whole notebook is one slide.

# Clean
Cleaning clears the outputs, removes empty cells and resets execution counts, or only some of these.
It works in the open notebook, and can be undone from the panel. Clear the outputs before you commit
a notebook to git: differences stay readable, and no data gets into the repository by its outputs.

# Split and merge
A notebook is split at its headings or at a cell; the parts are new notebooks beside it with numbers
in their names, and the notebook itself stays as it is. A merged notebook has the cells of all, with
their outputs, and the kernel of the first. Run its code anew.

# Scripts
A percent script is a Python file in which a line `# %%` begins each cell. It can be edited as text,
reviewed and kept in git, and made a notebook again: text, cell ids and metadata are kept, outputs
are not. The export to "script" is for running the code elsewhere: there is no way back from it.

# Quality
The quality report looks at the notebook without running it: order of execution, errors in outputs,
unused imports, undefined names, secrets, headings and long cells. It gives a score from 0 to 100.
"""

SERVICE = Service(
    id="notebook",
    name="Notebook",
    description="Export, clean, split and merge notebooks, and convert them to scripts and back.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[Link("nbconvert", "https://nbconvert.readthedocs.io/")],
        topics=[
            *("export", "convert", "HTML", "PDF", "slides", "script", "Markdown", "nbconvert"),
            *(
                "clean",
                "clear",
                "strip",
                "outputs",
                "empty",
                "split",
                "merge",
                "combine",
                "percent",
            ),
            *("LaTeX", "exportieren", "aufräumen", "bereinigen"),
        ],
        questions=[
            "Who reads it: somebody with Jupyter, or with a browser only?",
            "Is the notebook kept in git?",
        ],
    ),
    examples=[
        "Export this notebook as HTML",
        "Clear all outputs of the notebook",
        "Merge these notebooks into one",
        "Which formats can a notebook be exported to?",
    ],
    actions=[
        Export,
        Clean,
        Split,
        Merge,
        ToScript,
        FromScript,
        Quality,
    ],
)

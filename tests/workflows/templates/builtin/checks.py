"""What holds for every notebook that a template wrote."""

from __future__ import annotations

import nbformat
from nbformat import NotebookNode

from tests.support.template_run import NotebookRun


def check(run: NotebookRun) -> None:
    """No error, no warning, no empty picture, no path of the machine, no hole in the text."""
    outputs = [o for c in run.document.cells if c.cell_type == "code" for o in c.outputs]
    assert not [o for o in outputs if o.output_type == "error"]
    assert not [o.text for o in outputs if o.output_type == "stream" and o.name == "stderr"]
    assert all(len(image) > 4000 for image in images(run.document))
    text = nbformat.writes(run.document)
    assert str(run.kernel.root) not in text
    assert "<<" not in text
    said = " ".join(prose(run.document)).lower()
    assert not {"nan", "`none`", "inf"} & set(said.replace(",", " ").replace(".", " ").split())


def images(notebook: NotebookNode) -> list[str]:
    """The pictures of all cells, base64."""
    return [
        output.data["image/png"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]


def rendered(notebook: NotebookNode) -> list[list[str]]:
    """What each code cell printed or gave back."""
    return [
        [
            output.text if output.output_type == "stream" else output.data.get("text/plain", "")
            for output in cell.outputs
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def prose(notebook: NotebookNode) -> list[str]:
    """The Markdown cells."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]

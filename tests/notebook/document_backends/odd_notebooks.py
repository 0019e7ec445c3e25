"""Notebooks as they are found: what nbformat's schema forbids, and Jupyter serves all the same.

Each is ``Odd``: the notebook's JSON, in which one cell has the text ``ODD`` and another one
``TARGET``. ``refused`` is what the agent says of one that it does not edit although Jupyter serves
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ODD = "odd = 41 + 1"
TARGET = "target = 1"

Json = dict[str, Any]


@dataclass(frozen=True)
class Odd:
    notebook: Any
    refused: str | None = None


def code(cell_id: str, source: Any = ODD, **more: Any) -> Json:
    cell = {"cell_type": "code", "id": cell_id, "metadata": {}, "source": source}
    return {**cell, "outputs": [], "execution_count": None, **more}


def text(cell_id: str, source: Any = ODD, kind: Any = "markdown", **more: Any) -> Json:
    return {"cell_type": kind, "id": cell_id, "metadata": {}, "source": source, **more}


def notebook(*cells: Any, minor: Any = 5, **more: Any) -> Json:
    return {
        "cells": [*cells, code("target", TARGET), text("end", "the *end*")],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": minor,
        **more,
    }


def without(cell: Json, *keys: str) -> Json:
    return {key: value for key, value in cell.items() if key not in keys}


def nameless(*cells: Json, minor: int = 4, **more: Any) -> Json:
    """A notebook whose cells have no ids."""
    made = notebook(*cells, minor=minor, **more)
    return {**made, "cells": [without(cell, "id") for cell in made["cells"]]}


def shows(*outputs: Any, **more: Any) -> Json:
    return notebook(code("odd", outputs=list(outputs), **more))


def marked(**metadata: Any) -> Json:
    return notebook(code("odd", metadata=metadata))


PLAIN = {"text/plain": "42"}
PNG = {"plot.png": {"image/png": "iVBORw0KGgo="}}
STREAM = {"output_type": "stream", "name": "stdout", "text": "x\ny\n"}
DISPLAY = {"output_type": "display_data", "metadata": {}, "data": PLAIN}
RESULT = {"output_type": "execute_result", "metadata": {}, "data": PLAIN, "execution_count": 1}
ERROR = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["a", "b"]}
OLD_CELL = {"cell_type": "code", "language": "python", "metadata": {}, "outputs": []}
LOST = "lacks its version of nbformat"


def of_version_3(*cells: Json) -> Json:
    return {
        "worksheets": [{"cells": list(cells), "metadata": {}}],
        "metadata": {"name": "old"},
        "nbformat": 3,
        "nbformat_minor": 0,
    }


ODDITIES: dict[str, Odd] = {
    # Cells.
    "code without execution_count": Odd(notebook(without(code("odd"), "execution_count"))),
    "code without outputs": Odd(notebook(without(code("odd"), "outputs"))),
    "code without both": Odd(notebook(without(code("odd"), "outputs", "execution_count"))),
    "execution_count as text": Odd(notebook(code("odd", execution_count="7"))),
    "execution_count as a fraction": Odd(notebook(code("odd", execution_count=1.5))),
    "execution_count below zero": Odd(notebook(code("odd", execution_count=-1))),
    "Markdown with outputs": Odd(notebook(text("odd", outputs=[], execution_count=None))),
    "Markdown with an output": Odd(notebook(text("odd", outputs=[STREAM], execution_count=3))),
    "Markdown with outputs null": Odd(notebook(text("odd", outputs=None))),
    "raw with outputs": Odd(notebook(text("odd", kind="raw", outputs=[]))),
    "code with attachments": Odd(notebook(code("odd", attachments=PNG))),
    "raw with attachments": Odd(notebook(text("odd", kind="raw", attachments=PNG))),
    "attachments null": Odd(notebook(text("odd", attachments=None))),
    "an unknown cell type": Odd(notebook(text("odd", kind="heading", level=2))),
    "an unknown cell type with outputs": Odd(notebook(text("odd", kind="sql", outputs=[STREAM]))),
    "cell type null": Odd(notebook(text("odd", kind=None))),
    "cell type missing": Odd(notebook(without(code("odd"), "cell_type"))),
    "a key of another program": Odd(notebook(code("odd", prompt_number=4, collapsed=True))),
    "a cell that is text": Odd(notebook(code("odd"), ODD)),
    "a cell that is null": Odd(notebook(code("odd"), None)),
    # Sources.
    "source as lines": Odd(notebook(code("odd", [ODD, "\n", "b = 2"]))),
    "source as lines without line ends": Odd(notebook(code("odd", [ODD, "; b = 2"]))),
    "source as no lines": Odd(notebook(code("odd"), code("more", []))),
    "source null": Odd(notebook(code("odd"), code("more", None))),
    "source missing": Odd(notebook(code("odd"), without(code("more"), "source"))),
    "source missing in Markdown": Odd(notebook(code("odd"), without(text("more"), "source"))),
    "source a number": Odd(notebook(code("odd"), code("more", 5))),
    "source as numbers": Odd(notebook(code("odd"), code("more", [1, 2]))),
    "source with CRLF": Odd(notebook(code("odd", f"{ODD}\r\nb = 2\r\n"))),
    "source with CR": Odd(notebook(code("odd", f"{ODD}\rb = 2"))),
    "source with other line ends": Odd(notebook(code("odd", f"{ODD}\x0c\u2028\x85 b = 2"))),
    "source with NUL": Odd(notebook(code("odd", f"{ODD} # \x00"))),
    "source with half a surrogate pair": Odd(notebook(code("odd", f"{ODD} # \ud83d"))),
    # Ids.
    "ids in 4.4": Odd(notebook(code("odd"), minor=4)),
    "ids in 4.0": Odd(notebook(code("odd"), minor=0)),
    "some ids in 4.4": Odd(notebook(without(code("odd"), "id"), minor=4)),
    "the same id twice in 4.4": Odd(notebook(code("odd"), text("odd", "again"), minor=4)),
    "no ids in 4.4": Odd(nameless(code("odd"))),
    "no ids in 4.2": Odd(nameless(code("odd"), minor=2)),
    "no ids in 4.5": Odd(nameless(code("odd"), minor=5)),
    "an id is missing in 4.5": Odd(notebook(without(code("odd"), "id"))),
    "the same id twice": Odd(notebook(code("odd"), text("odd", "again"))),
    "the same id three times": Odd(notebook(text("x", "1"), text("x", "2"), code("x"))),
    "an id with spaces": Odd(notebook(code("the odd one"))),
    "an id with other letters": Odd(notebook(code("ungewöhnlich/🙂"))),
    "an id of 200 characters": Odd(notebook(code("x" * 200))),
    "an empty id": Odd(notebook(code(""))),
    "an id that is a number": Odd(notebook(code("odd", id=5))),
    "an id that is null": Odd(notebook(code("odd", id=None))),
    "an id that is a list": Odd(notebook(code("odd", id=["x"]))),
    "an id that is a list in 4.4": Odd(notebook(code("odd", id=["x"]), minor=4)),
    "two ids that are null": Odd(notebook(code("odd", id=None), text("b", "b", id=None))),
    # Outputs.
    "display_data without metadata": Odd(shows(without(DISPLAY, "metadata"))),
    "execute_result without metadata": Odd(shows(without(RESULT, "metadata"))),
    "execute_result without execution_count": Odd(shows(without(RESULT, "execution_count"))),
    "display_data without data": Odd(shows(without(DISPLAY, "data"))),
    "display_data with data null": Odd(shows({**DISPLAY, "data": None})),
    "display_data as lines": Odd(shows({**DISPLAY, "data": {"text/plain": ["4", "2"]}})),
    "display_data with an object": Odd(shows({**DISPLAY, "data": {"text/plain": {"a": 1}}})),
    "display_data of JSON": Odd(shows({**DISPLAY, "data": {"application/json": [1, "a"]}})),
    "metadata of an output null": Odd(shows({**DISPLAY, "metadata": None})),
    "a key of another program in an output": Odd(shows({**STREAM, "transient": {"id": 1}})),
    "stream without name": Odd(shows(without(STREAM, "name"))),
    "stream with an unknown name": Odd(shows({**STREAM, "name": "log"})),
    "stream as lines": Odd(shows({**STREAM, "text": ["x\n", "y\n"]})),
    "stream without text": Odd(shows(without(STREAM, "text"))),
    "stream with text null": Odd(shows({**STREAM, "text": None})),
    "error without traceback": Odd(shows(without(ERROR, "traceback"))),
    "error with traceback as text": Odd(shows({**ERROR, "traceback": "a\nb"})),
    "error without name and value": Odd(shows(without(ERROR, "ename", "evalue"))),
    "pyout of nbformat 3": Odd(shows({"output_type": "pyout", "text": ["42"], "metadata": {}})),
    "an unknown output type": Odd(shows({"output_type": "widget", "data": {}})),
    "output type null": Odd(shows({"output_type": None})),
    "output type missing": Odd(shows({"text": "x"}), "has an output without its output_type"),
    "outputs null": Odd(notebook(code("odd", outputs=None))),
    "outputs as an object": Odd(notebook(code("odd", outputs={}))),
    "outputs as text": Odd(notebook(code("odd", outputs=""))),
    "an output that is text": Odd(shows("x")),
    # Metadata of cells.
    "tags twice": Odd(marked(tags=["a", "a"])),
    "tags with a comma": Odd(marked(tags=["a,b"])),
    "tags as text": Odd(marked(tags="a")),
    "tags null": Odd(marked(tags=None)),
    "collapsed null": Odd(marked(collapsed=None)),
    "collapsed as text": Odd(marked(collapsed="true")),
    "scrolled as text": Odd(marked(scrolled="yes")),
    "jupyter as text": Odd(marked(jupyter="x")),
    "execution null": Odd(marked(execution=None)),
    "trusted in the file": Odd(marked(trusted=True)),
    "name as a number": Odd(marked(name=3)),
    "format as a number on raw": Odd(notebook(text("odd", kind="raw", metadata={"format": 1}))),
    "metadata of a cell missing": Odd(notebook(without(code("odd"), "metadata"))),
    "metadata of a cell null": Odd(notebook(code("odd", metadata=None))),
    "metadata of a cell as a list": Odd(notebook(code("odd", metadata=[]))),
    # Metadata of the notebook.
    "kernelspec without display_name": Odd(
        notebook(code("odd"), metadata={"kernelspec": {"name": "python3"}})
    ),
    "kernelspec without name": Odd(notebook(code("odd"), metadata={"kernelspec": {}})),
    "kernelspec null": Odd(notebook(code("odd"), metadata={"kernelspec": None})),
    "kernelspec as text": Odd(notebook(code("odd"), metadata={"kernelspec": "python3"})),
    "kernelspec with a number": Odd(notebook(code("odd"), metadata={"kernelspec": {"name": 3}})),
    "language_info without name": Odd(
        notebook(code("odd"), metadata={"language_info": {"version": "3"}})
    ),
    "language_info null": Odd(notebook(code("odd"), metadata={"language_info": None})),
    "authors as text": Odd(notebook(code("odd"), metadata={"authors": "me", "title": 3})),
    "metadata with orig_nbformat": Odd(notebook(code("odd"), metadata={"orig_nbformat": "x"})),
    "metadata empty": Odd(notebook(code("odd"), metadata={})),
    "metadata missing": Odd(without(notebook(code("odd")), "metadata")),
    "metadata null": Odd(notebook(code("odd"), metadata=None)),
    "metadata as a list": Odd(notebook(code("odd"), metadata=[])),
    # The notebook.
    "a key of another program in the notebook": Odd(notebook(code("odd"), extra={"a": [1]})),
    "nbformat_minor missing": Odd(without(notebook(code("odd")), "nbformat_minor")),
    "nbformat_minor missing, without ids": Odd(without(nameless(code("odd")), "nbformat_minor")),
    "nbformat_minor of the future": Odd(notebook(code("odd"), minor=12)),
    "nbformat_minor as text": Odd(notebook(code("odd"), minor="5")),
    "nbformat_minor null": Odd(notebook(code("odd"), minor=None)),
    "nbformat as text": Odd(notebook(code("odd"), nbformat="4")),
    "nbformat with a fraction": Odd(notebook(code("odd"), nbformat=4.0)),
    "nbformat 5": Odd(notebook(code("odd"), nbformat=5)),
    "nbformat missing": Odd(without(notebook(code("odd")), "nbformat", "nbformat_minor"), LOST),
    "nbformat missing, minor there": Odd(without(notebook(code("odd")), "nbformat"), LOST),
    "nbformat 1 with cells of 4": Odd(notebook(code("odd"), nbformat=1), LOST),
    "nbformat true": Odd(notebook(code("odd"), nbformat=True), LOST),
    "nbformat 2 with cells of 4": Odd(notebook(code("odd"), nbformat=2)),
    "nbformat 3 with cells of 4": Odd(notebook(code("odd"), nbformat=3)),
    "nbformat 3 with cells of 4 and no worksheets": Odd(
        notebook(code("odd"), nbformat=3, worksheets=[])
    ),
    "nbformat 3": Odd(
        of_version_3(
            {"cell_type": "heading", "level": 2, "metadata": {}, "source": "The\nheading"},
            {**OLD_CELL, "input": ODD, "prompt_number": 3, "collapsed": True},
            {**OLD_CELL, "input": [TARGET, "\n"]},
            {"cell_type": "html", "metadata": {}, "source": "<b>b</b>"},
            {"cell_type": "raw", "metadata": {}, "source": ""},
        )
    ),
    "nbformat 3 with outputs": Odd(
        of_version_3(
            {
                **OLD_CELL,
                "input": ODD,
                "outputs": [
                    {"output_type": "stream", "stream": "stdout", "text": "x"},
                    {"output_type": "pyout", "prompt_number": 1, "metadata": {}, "text": "42"},
                    {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["a"]},
                ],
            },
            {**OLD_CELL, "input": TARGET},
        )
    ),
    "no cells": Odd({**notebook(), "cells": "none"}),
    "a list": Odd([]),
    "null": Odd(None),
}
"""By what is odd about each."""

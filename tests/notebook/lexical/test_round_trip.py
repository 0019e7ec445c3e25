"""Equations, tables and images through exports: to a notebook, Markdown and HTML, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_datalayer_agent.notebook.lexical import nodes
from jupyter_datalayer_agent.notebook.lexical.convert import (
    document_markdown,
    from_notebook,
    new_document,
    to_notebook,
)
from jupyter_datalayer_agent.notebook.lexical.editor_state import EditorState, Node
from jupyter_datalayer_agent.notebook.lexical.from_markdown import blocks_of
from jupyter_datalayer_agent.services.builtin.notebook.export import convert
from tests.support.lexical import assert_lexical


def math(latex: str) -> Node:
    return nodes.equation(latex, inline=True)


def display(latex: str) -> Node:
    return nodes.equation(latex, inline=False)


def table(*cells: Node) -> Node:
    return nodes.table([[[nodes.text("head")] for _ in cells], [[each] for each in cells]])


IMAGE = nodes.image("plot.png", "a plot")
BLOCKS: dict[str, Node] = {
    "inline": nodes.paragraph([nodes.text("so "), math(r"a_1 < b^2"), nodes.text(" holds")]),
    "before a digit": nodes.paragraph([math("x"), nodes.text("5 apples")]),
    "two": nodes.paragraph([math("a"), math("b")]),
    "display": nodes.paragraph([display("E = mc^2\n\n+ 0")]),
    "display in text": nodes.paragraph([nodes.text("so "), display("E"), nodes.text(" then")]),
    "in a heading": nodes.heading(2, [nodes.text("On "), math("x_1*y_2*z")]),
    "in an item": nodes.list_("bullet", [nodes.list_item([math("x<y")], indent=0, value=1)]),
    "bars in a cell": table(nodes.text("a|b", nodes.CODE), nodes.text("c|d")),
    "breaks in a cell": table(math(r"a \\ b"), nodes.text("*|*")),
    "image": nodes.paragraph([IMAGE]),
    "image in text": nodes.paragraph([nodes.text("see "), IMAGE, nodes.text(" here")]),
    "image in a cell": table(IMAGE, nodes.image("b.png", "b", 20, 10)),
    "image in a link": nodes.paragraph([nodes.link("https://a.org", [IMAGE])]),
    "image with a size": nodes.paragraph([nodes.image("p.png", 'a "b" | c', 300, 200)]),
    "image with a caption": nodes.paragraph([nodes.image("p.png", "a", caption="Cars & <vans>")]),
    "image as data": nodes.paragraph([nodes.image("data:image/png;base64,iVBORw0KGgo=", "dot")]),
}


def state_of(blocks: list[Node]) -> EditorState:
    return EditorState.parse(new_document(blocks))


def notebook_of(state: EditorState) -> dict[str, Any]:
    notebook = to_notebook(state)
    nbformat.validate(nbformat.from_dict(notebook))
    return notebook


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_comes_back_from_a_notebook_and_from_markdown(name: str) -> None:
    block = BLOCKS[name]
    state = state_of([block])
    assert from_notebook(notebook_of(state)) == [block]
    assert blocks_of(document_markdown(state)) == [block]


def test_bars_of_equations_in_cells_mean_the_same_to_every_reader_of_tables() -> None:
    """Some take equations out before they read the table, and see what is escaped there."""
    state = state_of([table(math(r"|x| \le \|y\|"))])
    assert r"| $\vert x\vert  \le \Vert y\Vert$ |" in document_markdown(state)
    (back,) = from_notebook(notebook_of(state))
    (equation,) = back["children"][1]["children"][0]["children"][0]["children"]
    assert equation["equation"] == r"\vert x\vert  \le \Vert y\Vert"


def test_lexical_reads_all_of_them() -> None:
    assert_lexical([new_document([block]) for block in BLOCKS.values()])


async def test_html_shows_equations_tables_and_images(tmp_path: Path) -> None:
    notebook = notebook_of(state_of(list(BLOCKS.values())))
    file = tmp_path / "a.ipynb"
    nbformat.write(nbformat.from_dict(notebook), file)
    text = (await convert(file.read_bytes(), file, tmp_path, "html")).body.decode()
    assert r"$a_1 &lt; b^2$" in text
    assert "E = mc^2" in text
    assert "<table>" in text
    assert text.count("<img") == 8
    assert 'width="300"' in text
    assert "Cars &amp; &lt;vans&gt;" in text


@pytest.mark.parametrize(
    ("html", "size"),
    [
        ('<img src="p.png" alt="a" width="30">', (30, 0)),
        ("<img src=p.png alt=a height=20px/>", (0, 20)),
        ("<IMG src='p.png' alt='a' width='50%'>", (0, 0)),
    ],
)
def test_images_as_notebooks_often_have_them_are_images(html: str, size: tuple[int, int]) -> None:
    for markdown in (html, f"Text {html} more"):
        (block,) = blocks_of(markdown)
        (image,) = [each for each in block["children"] if each["type"] == "image"]
        assert (image["src"], image["altText"]) == ("p.png", "a")
        assert (image["width"], image["height"]) == size

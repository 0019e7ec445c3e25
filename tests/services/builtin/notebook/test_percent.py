"""The percent format: every notebook comes back, and scripts of others are read."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_datalayer_agent.services.builtin.notebook.script import from_script, to_script

LINES = st.sampled_from(
    [
        "x = 1",
        "",
        "  ",
        "# %% a cell?",
        "#%%",
        "# # %%",
        "%matplotlib inline",
        "# %matplotlib inline",
        "!ls",
        "    !ls",
        "df?",
        "%%time",
        "%%",
        '"""',
        "#",
        "# a comment",
        "# ---",
        "é ✓",
        "a\rb",
        "\u2028",
        "\x0c",
    ]
)
SOURCES = st.one_of(
    st.lists(LINES, max_size=5).map("\n".join), st.text(st.characters(exclude_categories=[]))
)


@given(st.lists(st.tuples(st.sampled_from(["code", "markdown", "raw"]), SOURCES), max_size=4))
@example([("code", "%%bash\nls\n\n# x")])
@example([("code", '"""\n%d\n"""')])
@example([("markdown", "")])
@example([("code", "\n\nx\n")])
def test_every_source_comes_back(cells: list[tuple[Any, str]]) -> None:
    made = [
        {"cell_type": kind, "id": f"c{number}", "metadata": {"tags": [kind]}, "source": source}
        for number, (kind, source) in enumerate(cells)
    ]
    script = to_script({"metadata": {"kernelspec": {"name": "python3"}}, "cells": made})
    # As a file has it.
    found = from_script(script.encode("utf-8").decode("utf-8"))
    assert found["metadata"] == {"kernelspec": {"name": "python3"}}
    assert [
        {key: cell[key] for key in ("cell_type", "id", "metadata", "source")}
        for cell in found["cells"]
    ] == made


def test_magics_are_comments_in_the_script() -> None:
    source = "%matplotlib inline\nx = 1\n!ls"
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": source}
    script = to_script({"metadata": {}, "cells": [cell]})
    assert script == '# %% id="a"\n# %matplotlib inline\nx = 1\n# !ls\n'
    compile(script, "a.py", "exec")


@pytest.mark.parametrize(
    ("script", "cells"),
    [
        ("x = 1\ny = 2\n", [("code", "x = 1\ny = 2")]),
        ("import os\n\n#%%\nx = 1\n", [("code", "import os"), ("code", "x = 1")]),
        (
            "# ---\n# jupyter:\n#   jupytext:\n#     format: '1.3'\n# ---\n\n"
            '# %% [markdown]\n# # T\n#\n# text\n\n# %% Load tags=["a"]\n# %time f()\nx\n',
            [("markdown", "# T\n\ntext"), ("code", "%time f()\nx")],
        ),
        ("", []),
    ],
)
def test_scripts_of_other_programs_are_read(script: str, cells: list[tuple[str, str]]) -> None:
    for text in (script, script.replace("\n", "\r\n")):
        found = from_script(text)
        nbformat.validate(nbformat.from_dict(found))
        assert [(cell["cell_type"], cell["source"]) for cell in found["cells"]] == cells


def test_jupytexts_metadata_is_kept() -> None:
    (cell,) = from_script('# %% Load tags=["a"] slide="x"\nx')["cells"]
    assert cell["metadata"] == {"title": "Load", "tags": ["a"], "slide": "x"}

"""A change whose text was changed while its card waited is shown anew, on what is there now."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from jupyter_datalayer_agent.notebook.lexical.block_types import new_blocks
from jupyter_datalayer_agent.notebook.lexical.convert import new_document
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, ScriptedModelServer
from tests.support.waiting_calls import Folder


@pytest.fixture
def folder(server: RunningServer, model: ScriptedModelServer) -> Folder:
    return Folder(server, model)


READ = Call("readAllCells")
PIECE = Call(
    "updateNotebookCell",
    {"cellId": "c1", "edits": [{"oldString": "rows = 1", "newString": "rows = 2"}]},
)


def cells(folder: Folder) -> list[str]:
    read = nbformat.read(folder.server.root / folder.notebook, as_version=4)
    return [each.source for each in read.cells]


def test_a_piece_of_a_cell_is_shown_in_what_the_user_wrote_meanwhile(folder: Folder) -> None:
    folder.write("x = 1", "rows = 1")
    asked = folder.turn(
        READ,
        PIECE,
        meanwhile=lambda: folder.write("x = 1", "import os\nrows = 1"),
        decisions="approve approve",
        approval="always",
    )
    assert asked[1]["reason"] == (
        "Cell 2 changed while this waited for you. Every action requires approval"
    )
    (change,) = asked[1]["changes"]
    assert (change["before"], change["after"]) == ("import os\nrows = 1", "import os\nrows = 2")
    assert cells(folder) == ["x = 1", "import os\nrows = 2"]
    # The model learns what it has not seen.
    assert "changedByUser" in folder.model.requests[-1].text
    assert "import os" in folder.model.requests[-1].text


def test_what_the_second_card_showed_is_compared_as_well(folder: Folder) -> None:
    folder.write("x = 1", "rows = 1")
    texts = iter(["a = 0\nrows = 1", "b = 0\nrows = 1", "b = 0\nrows = 1"])
    asked = folder.turn(
        READ,
        PIECE,
        meanwhile=lambda: folder.write("x = 1", next(texts)),
        each_time=True,
        decisions="approve approve approve",
        approval="always",
    )
    assert [each["changes"][0]["after"] for each in asked] == [
        "rows = 2",
        "a = 0\nrows = 2",
        "b = 0\nrows = 2",
    ]
    assert cells(folder)[1] == "b = 0\nrows = 2"


@pytest.mark.parametrize(
    ("call", "now"),
    [
        # The piece is not there any more.
        (PIECE, "rows = 3"),
        # The whole text would lose what the user wrote.
        (Call("updateNotebookCell", {"cellId": "c1", "content": "rows = 2"}), "rows = 1  # mine"),
    ],
)
def test_what_cannot_be_applied_any_more_is_refused_with_the_text_as_it_is(
    folder: Folder, call: Call, now: str
) -> None:
    folder.write("x = 1", "rows = 1")
    asked = folder.turn(
        READ,
        call,
        meanwhile=lambda: folder.write("x = 1", now),
        decisions="approve",
        approval="always",
    )
    assert len(asked) == 1
    assert cells(folder) == ["x = 1", now]
    assert "stale" in folder.model.requests[-1].text
    assert now in folder.model.requests[-1].text


def test_an_approval_for_the_session_covers_no_text_that_nobody_has_seen(folder: Folder) -> None:
    folder.write("x = 1", "rows = 1")
    asked = folder.turn(
        READ,
        PIECE,
        meanwhile=lambda: folder.write("x = 1", "import os\nrows = 1"),
        decisions="approve_for_session",
        approval="always",
    )
    assert len(asked) == 1
    assert cells(folder) == ["x = 1", "import os\nrows = 1"]


def test_a_cell_that_is_to_be_removed_is_shown_as_it_is_now(folder: Folder) -> None:
    folder.write("x = 1", "rows = 1")
    asked = folder.turn(
        READ,
        Call("deleteNotebookCells", {"cellIds": ["c1"]}),
        meanwhile=lambda: folder.write("x = 1", "a day of work"),
        decisions="approve deny",
    )
    assert asked[1]["reason"] == "Cell 2 changed while this waited for you. Deletes 1 cell"
    assert asked[1]["changes"][0]["before"] == "a day of work"
    assert cells(folder) == ["x = 1", "a day of work"]


def test_code_that_runs_is_shown_with_what_the_user_wrote_meanwhile(folder: Folder) -> None:
    folder.write("x = 1", "rows = 1")
    asked = folder.turn(
        READ,
        Call("updateNotebookCell", {**PIECE.arguments, "run": True}),
        meanwhile=lambda: folder.write("x = 1", "!rm cars.csv\nrows = 1"),
        decisions="approve deny",
        approval="always",
    )
    assert asked[1]["reason"].startswith("Cell 2 changed while this waited for you. ")
    assert "cars.csv" in asked[1]["reason"]
    assert "cars.csv" in folder.left


def test_a_piece_of_a_file_is_shown_in_what_the_user_wrote_meanwhile(folder: Folder) -> None:
    folder.write("x = 1")
    path, file = f"{folder.name}/junk.txt", folder.path / "junk.txt"
    file.write_text("one\ntwo\n", encoding="utf-8")

    def change() -> None:
        file.write_text("zero\none\ntwo\n", encoding="utf-8")

    asked = folder.turn(
        Call("readFile", {"path": path}),
        Call("editFile", {"path": path, "edits": [{"oldString": "two", "newString": "2"}]}),
        meanwhile=change,
        decisions="approve approve",
        approval="always",
    )
    assert asked[1]["reason"].startswith(f"{path} changed while this waited for you. ")
    assert asked[1]["changes"][0]["after"] == "zero\none\n2\n"
    assert file.read_text(encoding="utf-8") == "zero\none\n2\n"
    assert "changedByUser" in folder.model.requests[-1].text


def test_a_piece_of_a_block_is_shown_in_what_the_user_wrote_meanwhile(folder: Folder) -> None:
    name = f"{folder.name}/a.dlex"
    file: Path = folder.server.root / name
    file.write_text(new_document(new_blocks("jupyter-input", "rows = 1")), encoding="utf-8")

    def change() -> None:
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("rows = 1", "rows = 1  # mine"), encoding="utf-8")

    asked = folder.turn(
        Call("readAllBlocks"),
        lambda request: Call(
            "updateBlock",
            {
                "blockId": json.loads(request.last_output)["blocks"][0]["id"],
                "edits": [{"oldString": "rows = 1", "newString": "rows = 2"}],
            },
        ),
        meanwhile=change,
        decisions="approve approve",
        approval="always",
        attachments=[{"kind": "file", "path": name}],
        activeNotebook=name,
    )
    assert asked[1]["reason"].startswith(f"{name} changed while this waited for you. ")
    assert "rows = 2  # mine" in file.read_text(encoding="utf-8")

"""What a rename makes of paths."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.protocol.renames import Rename

FOLDER = Rename("data", "old/data.2024")


@pytest.mark.parametrize(
    ("path", "after"),
    [
        ("data", "old/data.2024"),
        ("data/a.ipynb", "old/data.2024/a.ipynb"),
        ("data/data/a.ipynb", "old/data.2024/data/a.ipynb"),
        ("data.csv", "data.csv"),
        ("data2/a.ipynb", "data2/a.ipynb"),
        ("my/data/a.ipynb", "my/data/a.ipynb"),
        ("Data/a.ipynb", "Data/a.ipynb"),
        ("", ""),
    ],
)
def test_a_folder_takes_what_is_in_it_along_and_nothing_else(path: str, after: str) -> None:
    assert FOLDER.path(path) == after
    assert FOLDER.affects(path) == (path != after)


def test_a_name_in_another_case_is_another_name() -> None:
    assert Rename("a.ipynb", "A.ipynb").path("a.ipynb") == "A.ipynb"


def test_what_was_kept_of_a_replaced_document_goes() -> None:
    kept = {"a": 1, "a/x": 2, "b": 3, "b/y": 4, "c": 5}
    assert Rename("a", "b").rekey(kept)
    assert kept == {"b": 1, "b/x": 2, "c": 5}
    cells = {("a", "one"): 1, ("b", "two"): 2, ("c", "two"): 3}
    Rename("a", "b").rekey_parts(cells)
    assert cells == {("b", "one"): 1, ("c", "two"): 3}


def test_a_rename_of_something_else_leaves_all_as_it_is() -> None:
    kept = {"a": 1, "b": 2}
    assert not Rename("x", "b").rekey(kept)
    assert kept == {"a": 1, "b": 2}


def test_paths_in_json_are_renamed_and_texts_are_not() -> None:
    rename = Rename("a.ipynb", "b.ipynb")
    data = {
        "path": "a.ipynb",
        "files": ["a.ipynb", "c.txt"],
        "changes": [{"path": "a.ipynb", "before": "a.ipynb", "cellId": "a.ipynb"}],
        "failedCells": {"a.ipynb": ["a.ipynb"]},
        "settings": {"notebook": "a.ipynb", "attachments": [{"path": "a.ipynb"}, {"path": None}]},
        "message": "a.ipynb",
    }
    assert rename.in_json(data) == {
        "path": "b.ipynb",
        "files": ["b.ipynb", "c.txt"],
        "changes": [{"path": "b.ipynb", "before": "a.ipynb", "cellId": "a.ipynb"}],
        "failedCells": {"b.ipynb": ["a.ipynb"]},
        "settings": {"notebook": "b.ipynb", "attachments": [{"path": "b.ipynb"}, {"path": None}]},
        "message": "a.ipynb",
    }

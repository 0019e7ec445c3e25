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


RENAMES = {
    "a chain": ([("a", "b"), ("b", "c")], {"a": ["c"], "b": ["c"], "c": []}),
    "there and back": ([("a", "b"), ("b", "a")], {"a": [], "b": ["a"]}),
    "moved with its folder": (
        [("f/a", "f/b"), ("f", "g")],
        # Whether a new f/a was in the folder is not known: then it is g/a.
        {"f/a": ["g/a", "g/b"], "f/b": ["g/b"], "f/x": ["g/x"], "f": ["g"], "g/b": []},
    ),
    "a name that another document got": ([("a", "b"), ("c", "a")], {"a": [], "c": ["a"]}),
    "replaced later": ([("a", "b"), ("c", "b")], {"a": [], "c": ["b"]}),
    "deleted later": ([("a", "b"), ("b", "")], {"a": [], "b": []}),
    "deleted with its folder": ([("a", "f/a"), ("f", "")], {"a": [], "f/a": []}),
    "a new document of the old name, deleted": ([("a", "b"), ("a", "")], {"a": []}),
    "a new document of the old name, renamed": ([("a", "b"), ("a", "c")], {"a": ["c", "b"]}),
    "another case": ([("a", "A")], {"a": ["A"], "A": []}),
}


@pytest.mark.parametrize("name", RENAMES)
def test_a_path_of_an_earlier_time_means_the_document_that_had_it_last(name: str) -> None:
    pairs, expected = RENAMES[name]
    renames = [Rename(old, new) for old, new in pairs]
    assert {path: Rename.newer_paths(path, renames) for path in expected} == expected


def test_what_is_deleted_keeps_its_path() -> None:
    gone = Rename("f", "")
    assert (gone.path("f/a"), gone.path("g")) == ("f/a", "g")
    assert not gone.replaces("")
    assert not gone.replaces("/a")

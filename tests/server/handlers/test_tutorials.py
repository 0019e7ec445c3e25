"""A tutorial over HTTP: started, answered wrong and right, and remembered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
import requests

from tests.support.jupyter import RunningServer
from tests.workflows.tutorials.test_pandas_basics import SOLUTIONS

IDS = ["pandas-basics", "matplotlib-visualization", "scikit-learn-first-model"]
CHECK = "tutorials/pandas-basics/lessons/{}/check"
RIGHT = {each.lesson: each.source for each in SOLUTIONS}


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that no model is configured for."""
    with RunningServer(tmp_path_factory.mktemp("school")) as running:
        yield running


def failed(response: requests.Response, status: int, code: str) -> str:
    body = response.json()
    assert (response.status_code, body["error"]["code"]) == (status, code), body
    return str(body["error"]["message"])


def write(file: Path, lesson: int, source: str) -> None:
    """What a learner does who saves the notebook."""
    notebook = nbformat.read(file, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.metadata["datalayer_agent"]["lesson"] == lesson:
            cell.source = source
    nbformat.write(notebook, file)


def check(server: RunningServer, lesson: int, body: dict[str, Any] | None = None) -> Any:
    return server.post(CHECK.format(lesson), body or {})


def test_tutorials_are_listed_with_their_lessons(school: RunningServer) -> None:
    tutorials = school.get("tutorials")["tutorials"]
    assert [each["id"] for each in tutorials] == IDS
    assert [len(each["lessons"]) for each in tutorials] == [5, 4, 5]
    first = tutorials[0]["lessons"][0]
    assert (first["number"], first["title"], first["done"]) == (1, "Loading data", False)
    assert school.get("tutorials/pandas-basics") == tutorials[0]


@pytest.mark.parametrize("tutorial", IDS)
def test_each_makes_a_valid_notebook_beside_its_data(school: RunningServer, tutorial: str) -> None:
    started = school.post(f"tutorials/{tutorial}", {"folder": f"learn/{tutorial}"})
    assert started == {"path": f"learn/{tutorial}/{tutorial}.ipynb", "created": True}
    notebook = nbformat.read(school.root / started["path"], as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    lessons = school.get(f"tutorials/{tutorial}")["lessons"]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.source for cell in code] == [each["starterCode"].rstrip() for each in lessons]
    assert [cell.metadata.datalayer_agent.lesson for cell in code] == [
        each["number"] for each in lessons
    ]
    assert all(each["task"] in notebook.cells[2 * each["number"] - 1].source for each in lessons)
    assert (school.root / f"learn/{tutorial}/penguins.csv").stat().st_size > 10_000


@pytest.mark.timeout(240)
def test_wrong_then_right_then_remembered(tmp_path: Path) -> None:
    with RunningServer(tmp_path) as server:
        message = failed(server.request("POST", CHECK.format(1), json={}), 404, "not_found")
        assert "Start it" in message

        started = server.post("tutorials/pandas-basics", {})
        assert started == {"path": "tutorials/pandas-basics.ipynb", "created": True}
        file = server.root / started["path"]

        wrong = check(server, 1)
        assert not wrong["passed"]
        assert "`penguins` is still `...`" in wrong["feedback"]
        assert "read_csv" in wrong["hint"]

        write(file, 1, RIGHT[1])
        right = check(server, 1)
        assert right["passed"]
        assert "hint" not in right
        assert [each["done"] for each in right["tutorial"]["lessons"]] == [True] + [False] * 4
        done_at = right["tutorial"]["lessons"][0]["doneAt"]
        assert check(server, 1)["tutorial"]["lessons"][0]["doneAt"] == done_at

        # The learner's own work and data stay, whatever is started again.
        data = file.with_name("penguins.csv")
        data.write_text(data.read_text().replace("Adelie", "Adélie"))
        before = (file.read_bytes(), data.read_bytes())
        again = server.post("tutorials/pandas-basics", {})
        assert again == {"path": started["path"], "created": False}
        assert (file.read_bytes(), data.read_bytes()) == before

        server.kill()
        server.start()
        kept = server.get("tutorials/pandas-basics")
        assert kept["notebook"] == started["path"]
        assert kept["lessons"][0]["doneAt"] == done_at
        write(file, 1, "penguins = 1")
        later = check(server, 1, {"path": started["path"]})
        assert not later["passed"]
        assert later["tutorial"]["lessons"][0]["done"]

        notebook = nbformat.read(file, as_version=4)
        notebook.cells = [c for c in notebook.cells if c.metadata.datalayer_agent.lesson != 2]
        nbformat.write(notebook, file)
        gone = failed(server.request("POST", CHECK.format(2), json={}), 404, "not_found")
        assert "lesson 2 is not in tutorials/pandas-basics.ipynb" in gone
        assert "Undo its deletion" in gone

        file.unlink()
        assert "notebook" not in server.get("tutorials/pandas-basics")
        failed(server.request("POST", CHECK.format(1), json={}), 404, "not_found")
        assert server.post("tutorials/pandas-basics", {})["created"]


def test_bad_requests_say_what_would_be_right(school: RunningServer) -> None:
    post = "POST"
    message = failed(school.request("GET", "tutorials/knitting"), 404, "not_found")
    assert "pandas-basics" in message
    failed(school.request(post, "tutorials/knitting", json={}), 404, "not_found")
    failed(school.request(post, "tutorials/knitting/lessons/1/check", json={}), 404, "not_found")
    for number in ("99", "0", "-1", "one", "1e3", "9" * 50):
        message = failed(school.request(post, CHECK.format(number), json={}), 404, "not_found")
        assert "lessons are 1 to 5" in message
    for folder in ("../out", ".hidden"):
        body = {"folder": folder}
        answer = school.request(post, "tutorials/pandas-basics", json=body)
        assert answer.status_code in (400, 403), answer.text
    (school.root / "a-file").write_text("")
    answer = school.request(post, "tutorials/pandas-basics", json={"folder": "a-file"})
    assert "is a file" in failed(answer, 400, "invalid_request")
    answer = school.request(post, CHECK.format(1), json={"path": "nowhere.ipynb"})
    assert "nowhere.ipynb" in failed(answer, 404, "not_found")
    answer = school.request(post, CHECK.format(1), json={"colour": "blue"})
    assert "colour" in failed(answer, 400, "invalid_request")
    assert sorted(each.name for each in school.root.parent.iterdir() if each.is_dir()) == [
        "home",
        "root",
    ]

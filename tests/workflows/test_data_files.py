"""Data files as programs in other countries write them: workflows and uploads read them alike."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import nbformat
import pandas
import pytest

from tests.support.jupyter import RunningServer
from tests.support.planning import until

ROWS = 30
ENCODINGS = [("gbk", "北京", "gb18030"), ("euc_kr", "서울", "cp949"), ("cp932", "東京", "cp932")]


def lines(head: str, row: str) -> str:
    return "".join(
        [head + "\n", *(row.format(i=i, j=i + 1, k=i + 10, z=i % 10) + "\n" for i in range(ROWS))]
    )


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "semicolons": (lines("Name;Preis", "Ware {i};{i},99"), {"Name": "Ware 1", "Preis": 1.99}),
    "tabs": (lines("Name\tPreis", "Ware {i}\t{i},99"), {"Name": "Ware 1", "Preis": 1.99}),
    "marks": (
        lines("Name;Umsatz;Lat", "a{i};1.00{z},50;52.{k}"),
        {"Name": "a1", "Umsatz": 1001.5, "Lat": 52.11},
    ),
    "years": (
        lines("country,code,2019,2020", "Land {i},L{i},{i}.5,{i}.1"),
        {"country": "Land 1", "code": "L1", "2019": 1.5, "2020": 1.1},
    ),
    "percent": (lines("name,5%,95%", "x{i},{i},{i}"), {"name": "x1", "5%": 1, "95%": 1}),
    "trailing": (lines("a,b,c", "n{i},{j},{k},"), {"a": "n1", "b": 2, "c": 11}),
    "money": (
        lines("what,price", 'n{i},"$1,2{k}.50"'),
        {"what": "n1", "price": 1211.5},
    ),
    "no_names": (
        lines("n0,1,2024-01-01", "n{j},{k},2024-01-02"),
        {"column1": "n1", "column2": 10, "column3": "2024-01-02"},
    ),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(tmp_path_factory.mktemp("data-files")) as running:
        yield running


def notebook_of(data: str) -> str:
    return data.rpartition(".")[0] + ".ipynb"


def workflow(server: RunningServer, data: str, **more: str) -> dict[str, Any]:
    parameters = {"data": data, "notebook": notebook_of(data), **more}
    reply: dict[str, Any] = server.post(
        "workflows/data-analysis-notebook", {"parameters": parameters}
    )
    return reply


def loaded(server: RunningServer, path: str) -> tuple[pandas.DataFrame, str]:
    """What the notebook's own loading cell makes of the file, and the text of its first cell."""
    notebook = nbformat.read(server.root / path, as_version=4)
    [cell] = [each.source for each in notebook.cells if "pd.read_csv(" in each.source]
    names: dict[str, Any] = {"pd": pandas}
    with contextlib.chdir(server.root):
        exec(cell, names)
    return names["df"], notebook.cells[0].source


def uploaded(server: RunningServer, data: str, **fields: str) -> tuple[pandas.DataFrame, Any]:
    content = (server.root / data).read_bytes()
    response = server.request("POST", "upload", data=fields, files={"file": (data, content)})
    assert response.status_code == 201, response.text
    dataset = response.json()["dataset"]
    return pandas.read_parquet(server.root / dataset["path"]), dataset["report"]


def row_of(frame: pandas.DataFrame) -> dict[str, Any]:
    row = frame.iloc[1].to_dict()
    return {name: str(v)[:10] if hasattr(v, "isoformat") else v for name, v in row.items()}


@pytest.mark.parametrize("name", list(CASES))
def test_a_workflow_and_an_upload_make_the_same_table_of_a_file(
    server: RunningServer, name: str
) -> None:
    content, expected = CASES[name]
    (server.root / f"{name}.csv").write_text(content)
    reply = workflow(server, f"{name}.csv")
    assert reply["status"] == "completed", reply["reply"]
    frame, first_cell = loaded(server, notebook_of(f"{name}.csv"))
    table, report = uploaded(server, f"{name}.csv")
    rows = ROWS + (name == "no_names")
    assert (len(frame), len(table)) == (rows, rows)
    assert row_of(frame) == expected
    assert row_of(table) == expected
    assert "How the file was read: values separated by" in first_cell
    assert report["header"] is (name != "no_names")


@pytest.mark.parametrize(("encoding", "word", "choice"), ENCODINGS)
def test_an_encoding_that_is_not_certain_is_never_guessed(
    server: RunningServer, encoding: str, word: str, choice: str
) -> None:
    data = f"{encoding}.csv"
    (server.root / data).write_bytes(lines(f"{word},wert", word + "{i},{i}").encode(encoding))
    reply = workflow(server, data)
    assert reply["status"] != "completed"
    assert f"{choice}: {word}" in reply["reply"]
    response = server.request(
        "POST", "upload", files={"file": (data, (server.root / data).read_bytes())}
    )
    error = response.json()["error"]
    assert response.status_code == 400
    previews = {each["encoding"]: each["preview"] for each in error["detail"]["encodings"]}
    assert previews[choice].startswith(word)

    reply = workflow(server, data, encoding=choice, notebook="given.ipynb")
    assert reply["status"] == "completed", reply["reply"]
    frame, _ = loaded(server, "given.ipynb")
    table, report = uploaded(server, data, encoding=choice)
    (server.root / "given.ipynb").unlink()
    assert row_of(frame) == row_of(table) == {word: f"{word}1", "wert": 1}
    assert report["encoding"] != "UTF-8"


@pytest.mark.parametrize(
    ("encoding", "words"),
    [("cp1251", "Москва"), ("cp1252", "Café São Zürich 9€"), ("cp1250", "Łódź Gdańsk Kraków")],
)
def test_words_that_are_certain_are_read_as_written_without_a_question(
    server: RunningServer, encoding: str, words: str
) -> None:
    data = f"certain-{encoding}.csv"
    rows = "".join(f"{word}{i},{i}\n" for i in range(ROWS) for word in words.split())
    (server.root / data).write_bytes(f"{words},wert\n{rows}".encode(encoding))
    assert workflow(server, data)["status"] == "completed"
    frame, first_cell = loaded(server, notebook_of(data))
    table, _ = uploaded(server, data)
    for each in (frame, table):
        assert list(each) == [words, "wert"]
        assert set(each[words].str.rstrip("0123456789")) == {
            word.rstrip("0123456789") for word in words.split()
        }
    assert words.split()[0] in first_cell


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("page.csv", "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n", "a web page (HTML)"),
        ("kept.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull"),
    ],
)
def test_what_is_no_table_is_refused_by_what_it_is(
    server: RunningServer, name: str, content: str, reason: str
) -> None:
    (server.root / name).write_text(content)
    reply = workflow(server, name)
    assert reply["status"] != "completed"
    assert reason in reply["reply"]
    response = server.request("POST", "upload", files={"file": (name, content)})
    assert response.status_code == 400
    assert reason in response.json()["error"]["message"]


def test_fields_of_an_upload_that_are_no_choice_are_refused(server: RunningServer) -> None:
    for field, value in (("encoding", "klingon"), ("delimiter", "ab"), ("decimal", "x")):
        files = {"file": ("x.csv", "a,b\n1,2\n")}
        response = server.request("POST", "upload", data={field: value}, files=files)
        assert response.status_code == 400, value
        assert field in response.json()["error"]["message"]


def test_the_user_chooses_an_encoding_by_its_words_and_the_workflow_goes_on(
    server: RunningServer,
) -> None:
    content = lines("Москва,n", "Омск{i},{i}").encode("koi8_r")
    (server.root / "asked.csv").write_bytes(content)
    session = server.post("sessions", {})["id"]
    parameters = {"data": "asked.csv", "notebook": "asked.ipynb"}
    request = {
        "message": "analyse it",
        "mode": "agent",
        "sessionId": session,
        "workflow": {"id": "data-analysis-notebook", "parameters": parameters},
    }
    events = server.stream("chat/stream", request)
    asked = until(events, "user_input_requested")[-1]
    assert "asked.csv is not certain" in asked["question"]
    [option] = [each for each in asked["options"] if each.startswith("koi8_r: Москва")]
    answer = {"type": "user_input_answer", "requestId": asked["requestId"], "answer": option}
    server.post(f"sessions/{session}/ops", answer)
    until(events, "turn_completed")
    frame, first_cell = loaded(server, "asked.ipynb")
    assert row_of(frame) == {"Москва": "Омск1", "n": 1}
    assert "KOI8-R (Cyrillic)" in first_cell

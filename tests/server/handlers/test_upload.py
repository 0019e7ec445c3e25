"""Uploads over real HTTP: received, converted, registered, and nothing left of what went wrong."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.support.jupyter import TOKEN, RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer

LIMIT = 40_000_000
CITIES = "city,people\nÅrsta,123\nUmeå,456\n"
HEADERS = {"Authorization": f"token {TOKEN}"}


@pytest.fixture(scope="module")
def lab(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("upload")
    environment = {"DATALAYER_AGENT_MAX_UPLOAD_BYTES": str(LIMIT)}
    with RunningServer(
        folder,
        api_base=shared_model.base_url,
        environment=environment,
        # Otherwise nobody can rename what is in the folder of the data sets.
        arguments=["--ContentsManager.allow_hidden=True"],
    ) as running:
        yield running


def send(
    server: RunningServer, name: str, content: str | bytes, **fields: str
) -> requests.Response:
    return server.request("POST", "upload", data=fields, files={"file": (name, content)})


def uploaded(server: RunningServer, name: str, content: str | bytes, **fields: str) -> Any:
    response = send(server, name, content, **fields)
    assert response.status_code == 201, response.text
    return response.json()["dataset"]


def refused(response: requests.Response, status: int, code: str) -> str:
    body = response.json()
    assert (response.status_code, body["error"]["code"]) == (status, code), body
    return str(body["error"]["message"])


def folder_of(server: RunningServer) -> Path:
    return server.root / ".datalayer" / "datasets"


def files(server: RunningServer) -> set[str]:
    return {each.name for each in folder_of(server).glob("*")}


def wait_until(holds: Callable[[], bool], seconds: float = 30) -> None:
    """There is no event for what a server does when nobody is there any more."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def many_rows(size: int) -> bytes:
    row = b"12345,some words that stand here,2024-05-06,3.14159\n"
    return b"id,words,day,number\n" + row * (size // len(row))


def test_a_file_becomes_a_data_set_of_its_session(lab: RunningServer) -> None:
    session, other = lab.post("sessions", {})["id"], lab.post("sessions", {})["id"]
    dataset = uploaded(lab, "cities.csv", CITIES, sessionId=session)
    assert dataset["path"] == ".datalayer/datasets/cities.parquet"
    assert (lab.root / dataset["path"]).stat().st_size == dataset["size"]
    assert (dataset["rows"], dataset["source"]) == (2, "cities.csv")
    assert dataset["columns"] == [
        {"name": "city", "type": "text"},
        {"name": "people", "type": "int64"},
    ]
    events = lab.stream(f"sessions/{session}/events")
    registered = next(event for event in events if event["type"] == "dataset_registered")
    assert registered["dataset"] == dataset
    known = lab.get("datasets", sessionId=session)
    assert (known["datasets"], known["maxUploadBytes"]) == ([dataset], LIMIT)
    assert lab.get("datasets", sessionId=other)["datasets"] == []
    lab.post(f"sessions/{other}/ops", {"type": "upload_registered", "dataset": {"name": "cities"}})
    next(e for e in lab.stream(f"sessions/{other}/events") if e["type"] == "dataset_registered")
    assert lab.get("datasets", sessionId=other)["datasets"] == [dataset]
    nothing = {"type": "upload_registered", "dataset": {"name": "nothing"}}
    assert lab.request("POST", f"sessions/{other}/ops", json=nothing).status_code == 404


def test_a_file_without_a_session_is_there_for_all(lab: RunningServer) -> None:
    session = lab.post("sessions", {})["id"]
    assert uploaded(lab, "shared.jsonl", '{"a": 1}\n')["shared"]
    names = [each["name"] for each in lab.get("datasets", sessionId=session)["datasets"]]
    assert "shared" in names
    assert lab.request("DELETE", "datasets/shared").status_code == 204
    assert "shared.parquet" not in files(lab)
    refused(lab.request("DELETE", "datasets/shared"), 404, "not_found")


def test_a_session_that_is_reset_knows_it_no_more(lab: RunningServer) -> None:
    session = lab.post("sessions", {})["id"]
    uploaded(lab, "forgotten.csv", CITIES, sessionId=session)
    lab.post(f"sessions/{session}/ops", {"type": "reset"})
    wait_until(lambda: not lab.get("datasets", sessionId=session)["datasets"], 10)
    assert "forgotten.parquet" in files(lab)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("../../etc/passwd.csv", "passwd"),
        ("C:\\data\\my table (1).csv", "my_table_1"),
        (".hidden.csv", "hidden"),
        ("čísla 数.csv", "čísla_数"),
        ("nul.csv", "nul_data"),
        ("-.csv", "dataset"),
        ('quo"te.csv', "quo_te"),
    ],
)
def test_names_are_made_safe(lab: RunningServer, given: str, expected: str) -> None:
    assert uploaded(lab, given, CITIES)["name"] == expected
    assert f"{expected}.parquet" in files(lab)
    assert uploaded(lab, given, CITIES)["name"] == f"{expected}_2"


def test_two_uploads_of_one_name_at_once_are_two_data_sets(lab: RunningServer) -> None:
    names: list[str] = []
    sending = [
        threading.Thread(
            target=lambda number=number: names.append(
                requests.post(
                    lab.url + "datalayer-agent/upload",
                    headers=HEADERS,
                    files={"file": ("twin.csv", f"n\n{number}\n")},
                    timeout=60,
                ).json()["dataset"]["name"]
            )
        )
        for number in range(2)
    ]
    for each in sending:
        each.start()
    for each in sending:
        each.join()
    assert sorted(names) == ["twin", "twin_2"]


def test_a_file_over_the_limit_is_refused_and_nothing_of_it_is_left(lab: RunningServer) -> None:
    before = files(lab)
    body = many_rows(LIMIT + 2_000_000)
    assert "40 MB" in refused(send(lab, "big.csv", body), 413, "too_large")

    def pieces() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="big.csv"\r\n\r\n'
        for start in range(0, len(body), 1 << 20):
            yield body[start : start + (1 << 20)]
        yield b"\r\n--b--\r\n"

    # Without a length, it shows only when it has come.
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    refused(lab.request("POST", "upload", data=pieces(), headers=kind), 413, "too_large")
    wait_until(lambda: files(lab) == before, 10)


def test_a_sender_that_goes_away_leaves_nothing(lab: RunningServer) -> None:
    before = files(lab)
    head = (
        "POST /datalayer-agent/upload HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: token {TOKEN}\r\nContent-Length: 30000000\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
        '--b\r\nContent-Disposition: form-data; name="file"; filename="half.csv"\r\n\r\n'
    )
    with socket.create_connection(("127.0.0.1", lab.port)) as sender:
        sender.sendall(head.encode() + many_rows(3_000_000))
        wait_until(lambda: list(folder_of(lab).glob(".incoming/*/upload")) != [])
    wait_until(lambda: files(lab) == before)


def test_a_conversion_reports_its_progress_and_the_server_continues(lab: RunningServer) -> None:
    body = many_rows(30_000_000)
    response = lab.request(
        "POST",
        "upload",
        files={"file": ("long.csv", body)},
        headers={"Accept": "application/x-ndjson"},
        stream=True,
    )
    lines = response.iter_lines(chunk_size=1)
    first = json.loads(next(lines))
    assert first["stage"] == "checking"
    lab.get("sessions")
    rest = [json.loads(line) for line in lines]
    assert len(rest) > 1
    assert "converting" in {each.get("stage") for each in rest}
    assert rest[-1]["dataset"]["rows"] == body.count(b"\n") - 1


def test_who_goes_away_while_it_is_converted_ends_the_conversion(lab: RunningServer) -> None:
    before = files(lab)
    response = lab.request(
        "POST",
        "upload",
        files={"file": ("left.csv", many_rows(30_000_000))},
        headers={"Accept": "application/x-ndjson"},
        stream=True,
    )
    assert b"checking" in next(response.iter_lines(chunk_size=1))
    response.close()
    wait_until(lambda: files(lab) == before)
    assert "left" not in {each["name"] for each in lab.get("datasets")["datasets"]}


def test_what_is_no_table_is_refused_in_both_forms(lab: RunningServer) -> None:
    before = files(lab)
    picture = b"\x89PNG\r\n\x1a\n" + bytes(200)
    assert "PNG picture" in refused(send(lab, "p.csv", picture), 400, "invalid_request")
    response = lab.request(
        "POST",
        "upload",
        files={"file": ("p.csv", picture)},
        headers={"Accept": "application/x-ndjson"},
    )
    assert response.ok
    assert "PNG picture" in json.loads(response.text.splitlines()[-1])["error"]["message"]
    assert files(lab) == before


def test_requests_that_are_no_uploads_are_refused_with_the_reason(lab: RunningServer) -> None:
    before = files(lab)
    refused(lab.request("POST", "upload", json={}), 400, "invalid_request")
    message = refused(
        lab.request("POST", "upload", files={"data": ("x.csv", CITIES)}), 400, "invalid_request"
    )
    assert "field file" in message
    refused(send(lab, "x.csv", CITIES, sessionId="ses_none"), 404, "not_found")
    anonymous = requests.post(
        lab.url + "datalayer-agent/upload", files={"file": ("x.csv", CITIES)}, timeout=30
    )
    assert anonymous.status_code == 403
    assert files(lab) == before


def test_an_attached_data_set_reaches_the_model_without_its_rows(
    lab: RunningServer, model: ScriptedModelServer
) -> None:
    uploaded(lab, "secrets.csv", "who,code\nAda,47110815\n")
    model.script(Say("I see."))
    lab.post(
        "chat",
        {
            "message": "What is in it?",
            "attachments": [
                {"kind": "dataset", "name": "secrets"},
                {"kind": "dataset", "name": "gone"},
            ],
        },
    )
    sent = json.dumps(model.requests[-1].body, ensure_ascii=False)
    assert "Attached data set secrets: 1 rows" in sent
    assert "who text, code int64" in sent
    assert "data set gone cannot be used" in sent
    assert "47110815" not in sent


@pytest.mark.parametrize(("policy", "goes"), [("always", True), ("never", False)])
def test_sample_rows_go_to_the_model_only_as_the_user_allows(
    lab: RunningServer, model: ScriptedModelServer, policy: str, goes: bool
) -> None:
    session = lab.post("sessions", {"settings": {"rowData": policy}})["id"]
    uploaded(lab, "people.csv", "who,code\nGrace,47110816\n", sessionId=session)
    model.script(Call("listDatasets"), Say("Done."))
    reply = lab.post("chat", {"message": "Which are there?", "sessionId": session})
    assert reply["toolCalls"][0]["status"] == "ok"
    sent = json.dumps(model.requests[-1].body, ensure_ascii=False)
    assert "people" in sent
    assert ("47110816" in sent) is goes


def test_a_data_set_whose_file_is_moved_keeps_its_name_in_its_conversation(
    lab: RunningServer,
) -> None:
    session = lab.post("sessions", {})["id"]
    dataset = uploaded(lab, "moving.csv", CITIES, sessionId=session)

    def move(old: str, new: str) -> None:
        answer = lab.request("PATCH", f"/api/contents/{old}", json={"path": new})
        assert answer.ok, answer.text

    def known() -> dict[str, str]:
        listed = lab.get("datasets", sessionId=session)["datasets"]
        return {each["name"]: each["path"] for each in listed if "moving" in each["name"]}

    (lab.root / "tables").mkdir()
    move(dataset["path"], "tables/new place.parquet")
    move("tables", "my tables")
    assert known() == {"moving": "my tables/new place.parquet"}
    # Its name is not free.
    second = uploaded(lab, "moving.csv", CITIES, sessionId=session)
    assert second["name"] == "moving_2"
    assert lab.request("DELETE", "datasets/moving").ok
    assert list((lab.root / "my tables").iterdir()) == []
    assert known() == {"moving_2": second["path"]}

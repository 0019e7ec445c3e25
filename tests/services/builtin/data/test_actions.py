"""The actions of /data, run as the panel runs them: over HTTP, on real files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from tests.support.jupyter import RunningServer
from tests.support.planning import of_type, until


@pytest.fixture
def folder(server: RunningServer) -> Iterator[Path]:
    import shutil

    place = server.root / "data-actions"
    place.mkdir()
    (place / "sales.csv").write_text("store,day,units\n01,2024-01-01,5\n02,2024-01-02,7\n01,,9\n")
    (place / "stores.csv").write_text("store,city\n01,Bern\n02,Basel\n03,Chur\n")
    yield place
    shutil.rmtree(place)


def run(server: RunningServer, action: str, **parameters: Any) -> dict[str, Any]:
    body = {"parameters": parameters}
    reply = server.request("POST", f"services/data/actions/{action}/run", json=body)
    return dict(reply.json())


def text_of(reply: dict[str, Any]) -> str:
    assert reply.get("error") is None, reply
    return str(reply["reply"])


def proposal(server: RunningServer, action: str, message: str) -> dict[str, Any]:
    return dict(server.post(f"services/data/actions/{action}/dry-run", {"message": message}))


def values(found: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each["value"] for each in found["parameters"] if each["found"]}


def test_a_file_is_converted_and_the_result_says_what_was_compared(
    server: RunningServer, folder: Path
) -> None:
    text = text_of(run(server, "convert", data="data-actions/sales.csv", format="parquet"))
    assert "`data-actions/sales.parquet`: 3 rows and 3 columns, read back and compared" in text
    made = pyarrow.parquet.read_table(folder / "sales.parquet")
    assert made.column("store").to_pylist() == ["01", "02", "01"]
    assert str(made.schema.field("day").type).startswith("date")


def test_an_existing_file_is_a_problem_of_the_proposal_and_of_the_run(
    server: RunningServer, folder: Path
) -> None:
    (folder / "sales.xlsx").write_text("mine")
    message = "Convert data-actions/sales.csv to Excel"
    found = proposal(server, "convert", message)
    (target,) = [each for each in found["parameters"] if each["name"] == "target"]
    assert "data-actions/sales.xlsx already exists." in target["problem"]
    assert found["complete"] is False
    refused = run(server, "convert", data="data-actions/sales.csv", format="excel")
    assert "already" in refused["error"]["message"]
    assert (folder / "sales.xlsx").read_text() == "mine"


def test_a_proposal_writes_nothing(server: RunningServer, folder: Path) -> None:
    before = sorted(each.name for each in folder.iterdir())
    found = proposal(server, "sample", "Sample 2 rows of data-actions/sales.csv, seed 7")
    assert values(found) == {"data": "data-actions/sales.csv", "rows": 2, "seed": 7}
    assert found["complete"] is True
    assert sorted(each.name for each in folder.iterdir()) == before


def test_a_sample_is_written_beside_the_data(server: RunningServer, folder: Path) -> None:
    text = text_of(run(server, "sample", data="data-actions/sales.csv", percent=67))
    assert "Wrote 2 of the 3 rows" in text
    assert len((folder / "sales_sample.csv").read_text().splitlines()) == 3


def test_a_sample_takes_rows_or_a_percentage(server: RunningServer, folder: Path) -> None:
    for parameters in ({}, {"rows": 1, "percent": 5.0}):
        refused = run(server, "sample", data="data-actions/sales.csv", **parameters)
        assert "a number of rows, or a percentage" in refused["error"]["message"]


def test_two_files_are_joined_by_the_key_that_the_message_names(
    server: RunningServer, folder: Path
) -> None:
    message = "Join data-actions/sales.csv with data-actions/stores.csv by store"
    found = values(proposal(server, "join", message))
    assert found == {
        "data": "data-actions/sales.csv",
        "other": "data-actions/stores.csv",
        "keys": ["store"],
    }
    text = text_of(run(server, "join", **found))
    assert "many-to-one: `data-actions/sales_stores.csv` has 3 rows" in text
    assert "`data-actions/stores.csv`: 3 rows; 0 keys occur more than once; 1 rows match" in text


def test_a_path_outside_of_the_root_is_refused(server: RunningServer, folder: Path) -> None:
    refused = run(
        server, "convert", data="data-actions/sales.csv", format="jsonl", target="../out.jsonl"
    )
    assert refused["error"] is not None
    assert not (server.root.parent / "out.jsonl").exists()


def test_a_file_becomes_a_data_set_of_the_conversation(server: RunningServer, folder: Path) -> None:
    message = "Register data-actions/sales.csv as a data set"
    found = values(proposal(server, "register", message))
    assert found == {"data": "data-actions/sales.csv"}
    assert server.get("datasets")["datasets"] == []
    session = server.post("sessions", {})["id"]
    body = {"parameters": {**found, "name": "shop sales"}, "sessionId": session}
    text = text_of(server.post("services/data/actions/register/run", body))
    assert "is the data set **shop_sales** of this conversation" in text
    (dataset,) = server.get("datasets", sessionId=session)["datasets"]
    assert (dataset["name"], dataset["rows"], dataset["shared"]) == ("shop_sales", 3, False)
    assert (server.root / dataset["path"]).is_file()
    assert (folder / "sales.csv").read_text().startswith("store,day,units\n01,")
    events = until(server.stream(f"sessions/{session}/events"), "turn_completed")
    (registered,) = of_type(events, "dataset_registered")
    assert registered["dataset"]["name"] == "shop_sales"
    assert server.request("DELETE", "datasets/shop_sales").ok
    assert server.get("datasets", sessionId=session)["datasets"] == []
    assert (folder / "sales.csv").exists()


def test_what_is_no_table_is_not_registered(server: RunningServer, folder: Path) -> None:
    (folder / "broken.parquet").write_bytes(b"PAR1 no table PAR1")
    refused = run(server, "register", data="data-actions/broken.parquet")
    assert "broken.parquet" in refused["error"]["message"]
    assert server.get("datasets")["datasets"] == []


GBK = "北京,n\n" + "".join(f"北京{i},{i}\n" for i in range(30))


def test_an_encoding_that_is_not_certain_is_a_problem_of_the_form_and_is_taken_from_it(
    server: RunningServer, folder: Path
) -> None:
    (folder / "towns.csv").write_bytes(GBK.encode("gbk"))
    data = {"data": "data-actions/towns.csv"}
    body = {"message": "", "parameters": {**data, "format": "parquet"}}
    found = server.post("services/data/actions/convert/dry-run", body)
    [asked] = [each for each in found["parameters"] if each["name"] == "encoding"]
    assert "gb18030: 北京" in asked["problem"]
    names = [each["name"] for each in found["parameters"]]
    assert names == ["data", "format", "target", "encoding", "delimiter", "decimal"]
    for action, more in (
        ("convert", {"format": "parquet"}),
        ("sample", {"rows": 30, "target": "towns.parquet"}),
        ("join", {"other": "data-actions/stores.csv", "keys": ["n"], "other_keys": ["store"]}),
        ("register", {}),
    ):
        refused = run(server, action, **data, **more)
        assert "gb18030: 北京" in refused["error"]["message"], action
    text_of(run(server, "convert", **data, format="parquet", encoding="gbk"))
    made = pyarrow.parquet.read_table(folder / "towns.parquet").to_pandas()
    assert list(made) == ["北京", "n"]
    assert made.iloc[1].to_list() == ["北京1", 1]
    (folder / "towns.parquet").unlink()
    text_of(run(server, "sample", **data, rows=30, target="towns.parquet", encoding="gbk"))
    assert list(pyarrow.parquet.read_table(folder / "towns.parquet").to_pandas()) == ["北京", "n"]
    assert "data set **towns" in text_of(run(server, "register", **data, encoding="gbk"))


def test_files_of_two_encodings_are_joined_by_keys_of_any_alphabet(
    server: RunningServer, folder: Path
) -> None:
    (folder / "towns.csv").write_bytes(GBK.encode("gbk"))
    (folder / "orte.csv").write_bytes("市;n\n東京;1,5\n".encode("euc_jp"))
    keys = {"keys": ["n"], "other_keys": ["n"], "data": "data-actions/towns.csv"}
    other = {"other": "data-actions/orte.csv", "target": "joined.parquet", "how": "left"}
    refused = run(server, "join", **keys, **other, encoding="gbk")
    assert "euc_jp: 市" in refused["error"]["message"]
    text_of(run(server, "join", **keys, **other, encoding="gbk", other_encoding="euc_jp"))
    made = pyarrow.parquet.read_table(folder / "joined.parquet").to_pandas()
    assert list(made) == ["北京", "n", "市"]


def test_a_form_takes_the_delimiter_and_the_decimal_mark(
    server: RunningServer, folder: Path
) -> None:
    (folder / "odd.csv").write_text("a#b\n" + "".join(f"x#{i}.{i}00\n" for i in range(1, 9)))
    text_of(
        run(
            server,
            "convert",
            data="data-actions/odd.csv",
            format="parquet",
            delimiter="#",
            decimal=",",
        )
    )
    made = pyarrow.parquet.read_table(folder / "odd.parquet").to_pandas()
    assert made["b"].to_list()[0] == 1100

"""The example package of Azure Blob Storage, installed by pip, on a real server and Azurite."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from azure.storage.blob import BlobServiceClient

from jupyter_datalayer_agent.services.action import ActionFailed
from jupyter_datalayer_agent.services.benchmarks import builtin_cases
from tests.support.azurite import Azurite
from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.packages import install

EXAMPLE = Path(__file__).parents[3] / "examples" / "azure-storage-service"
WIZARDS = """
from jupyter_datalayer_agent.services.service import Service, ServiceConfig
from jupyter_datalayer_agent_azure_storage.wizards import DownloadWizard, UploadWizard

SERVICE = Service(
    "storage-wizards", "Wizards", "The same by questions.", ServiceConfig(""), [],
    [UploadWizard, DownloadWizard],
)
"""


@pytest.fixture(scope="module")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azurite]:
    with Azurite(tmp_path_factory.mktemp("azurite")) as running:
        yield running


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of a server that has the example package, and its wizards as a service of their own."""
    folder = tmp_path_factory.mktemp("packages")
    (folder / "wizards").mkdir()
    (folder / "wizards" / "storage_wizards.py").write_text(WIZARDS)
    (folder / "wizards" / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "storage-wizards"\nversion = "1"\n'
        '[project.entry-points."jupyter_datalayer_agent.services"]\n'
        'wizards = "storage_wizards:SERVICE"\n'
        '[tool.hatch.build.targets.wheel]\ninclude = ["storage_wizards.py"]\n'
    )
    install(EXAMPLE, folder / "site")
    return install(folder / "wizards", folder / "site")


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str], azurite: Azurite
) -> Iterator[RunningServer]:
    """The account is that of its environment."""
    known = {**environment, "AZURE_STORAGE_CONNECTION_STRING": azurite.connection()}
    with RunningServer(tmp_path_factory.mktemp("server"), environment=known) as running:
        yield running


@pytest.fixture(scope="module")
def bare(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> Iterator[RunningServer]:
    """A server without an account in its environment."""
    with RunningServer(tmp_path_factory.mktemp("bare"), environment=environment) as running:
        yield running


@pytest.fixture
def client(azurite: Azurite) -> Iterator[BlobServiceClient]:
    """An empty account."""
    with BlobServiceClient.from_connection_string(azurite.connection()) as made:
        for each in list(made.list_containers()):
            made.delete_container(each.name)
        yield made


@pytest.fixture
def reports(client: BlobServiceClient) -> Iterator[Any]:
    with client.create_container("reports") as container:
        yield container


def run(server: RunningServer, action: str, **parameters: Any) -> str:
    reply = server.post(f"services/storage/actions/{action}/run", {"parameters": parameters})
    return str(reply["reply"])


def refused(server: RunningServer, action: str, **parameters: Any) -> str:
    path = f"services/storage/actions/{action}/run"
    reply = server.request("POST", path, json={"parameters": parameters})
    assert reply.status_code >= 400, reply.text
    return str(reply.json()["error"]["message"])


def dry_run(
    server: RunningServer, action: str, message: str, service: str = "storage", **parameters: Any
) -> dict[str, Any]:
    body = {"message": message, "parameters": parameters}
    proposal: dict[str, Any] = server.post(f"services/{service}/actions/{action}/dry-run", body)
    return proposal


def values(proposal: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each.get("value") for each in proposal["parameters"]}


def test_the_package_completes_the_service(server: RunningServer) -> None:
    listed = server.get("services")
    assert listed["problems"] == []
    (storage,) = [each for each in listed["services"] if each["id"] == "storage"]
    assert storage["installed"]
    assert len(storage["actions"]) == 8
    assert {e["id"] for e in storage["actions"] if e["destructive"]} == {
        "delete-blob",
        "delete-container",
    }


@pytest.mark.parametrize("size", [0, 1, 5_000_003])
def test_an_upload_and_a_download_are_the_same_bytes(
    server: RunningServer, reports: Any, size: int
) -> None:
    content = os.urandom(size)
    (server.root / "sent.bin").write_bytes(content)
    for each in server.root.glob("received*"):
        each.unlink()
    run(server, "upload", container="reports", file="sent.bin", blob="a/b c.bin")
    assert reports.download_blob("a/b c.bin").readall() == content
    proposal = dry_run(server, "download", "get a/b c.bin from reports", to="received.bin")
    assert proposal["complete"], proposal
    run(server, "download", container="reports", blob="a/b c.bin", to="received.bin")
    assert (server.root / "received.bin").read_bytes() == content
    assert list(server.root.glob(".*part")) == []


def test_nothing_is_overwritten(server: RunningServer, reports: Any) -> None:
    (server.root / "one.csv").write_text("new")
    reports.upload_blob("one.csv", b"old")
    assert "already" in refused(server, "upload", container="reports", file="one.csv")
    assert reports.download_blob("one.csv").readall() == b"old"
    assert "already" in refused(server, "download", container="reports", blob="one.csv")
    assert (server.root / "one.csv").read_text() == "new"


def test_containers_and_blobs_are_listed_created_and_deleted(
    server: RunningServer, client: BlobServiceClient
) -> None:
    assert run(server, "list-containers") == "The account has no containers."
    run(server, "create-container", container="reports")
    assert run(server, "list-containers") == "- `reports`"
    assert run(server, "list-blobs", container="reports") == "The container `reports` is empty."
    container = client.get_container_client("reports")
    container.upload_blob("old.csv", b"123")
    container.upload_blob("new.csv", b"1234")
    assert run(server, "list-blobs", container="reports").splitlines() == [
        "- `new.csv` (4 bytes)",
        "- `old.csv` (3 bytes)",
    ]
    proposal = dry_run(server, "delete-blob", "delete old.csv from reports")
    assert proposal["destroys"].startswith("The blob old.csv in the container reports.")
    assert proposal["destructive"]
    assert len(list(container.list_blob_names())) == 2
    run(server, "delete-blob", container="reports", blob="old.csv")
    assert list(container.list_blob_names()) == ["new.csv"]
    proposal = dry_run(server, "delete-container", "delete the container reports")
    assert "every blob in it" in proposal["destroys"]
    run(server, "delete-container", container="reports")
    assert list(client.list_containers()) == []


def test_a_blob_becomes_a_data_set(server: RunningServer, reports: Any) -> None:
    write_cars(server.root)
    reports.upload_blob("tables/cars.csv", (server.root / "cars.csv").read_bytes())
    assert dry_run(server, "copy-to-dataset", "copy tables/cars.csv of reports")["complete"]
    run(server, "copy-to-dataset", container="reports", blob="tables/cars.csv")
    (dataset,) = server.get("datasets")["datasets"]
    assert dataset["source"] == "cars.csv"
    rows = len((server.root / "cars.csv").read_text().splitlines()) - 1
    assert dataset["rows"] == rows


def test_a_message_fills_the_form_with_what_is_there(server: RunningServer, reports: Any) -> None:
    reports.upload_blob("sales.csv", b"1")
    (server.root / "cars.csv").write_text("mpg\n")
    found = values(dry_run(server, "download", "Download sales.csv from the container reports"))
    assert (found["container"], found["blob"]) == ("reports", "sales.csv")
    proposal = dry_run(server, "download", "Download salaries.csv from reports")
    assert not proposal["complete"]
    assert values(proposal)["blob"] is None
    found = values(dry_run(server, "upload", "Upload cars.csv to the container reports as c.csv"))
    assert found == {
        "container": "reports",
        "file": "cars.csv",
        "blob": "c.csv",
        "connection": None,
    }


def test_the_wizards_find_the_same(server: RunningServer, reports: Any) -> None:
    reports.upload_blob("sales.csv", b"1")
    for action, message in (
        ("download", "Download sales.csv from reports"),
        ("upload", "Upload cars.csv to reports as c.csv"),
    ):
        (server.root / "cars.csv").write_text("mpg\n")
        form = dry_run(server, action, message)
        wizard = dry_run(server, action, message, "storage-wizards")
        assert wizard["wizard"]
        assert not form["wizard"]
        assert form["complete"]
        assert wizard["complete"]
        assert values(wizard) == {n: v for n, v in values(form).items() if n != "connection"}
    ended = dry_run(server, "download", "Download it", "storage-wizards")
    # It ends where the container is not known: the blob is not even asked for.
    assert list(values(ended)) == ["container"]


def test_what_cannot_be_is_a_clear_error(
    server: RunningServer, client: BlobServiceClient, azurite: Azurite
) -> None:
    (server.root / "cars.csv").write_text("mpg\n")
    for name in ("Reports", "ab", "a--b", "-ab", "with_underscore"):
        said = refused(server, "create-container", container=name)
        assert "is not allowed as a container's name" in said
    client.create_container("gone")
    proposal = dry_run(server, "upload", "Upload cars.csv to gone")
    assert proposal["complete"]
    client.delete_container("gone")
    assert "'gone' is not one of the choices" in refused(
        server, "upload", container="gone", file="cars.csv"
    )
    client.create_container("here")
    assert "already" in refused(server, "create-container", container="here")
    said = refused(server, "upload", container="here", file="cars.csv", blob="ends.")
    assert "is not allowed as a blob's name" in said
    wrong = azurite.connection(base64.b64encode(b"w" * 64).decode())
    said = refused(server, "list-containers", connection=wrong)
    assert "refuses this key" in said
    said = refused(server, "list-containers", connection="no such thing")
    assert "not a connection string" in said
    nobody = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:9", azurite.connection())
    assert "cannot be reached" in refused(server, "list-containers", connection=nobody)


async def test_what_is_gone_by_the_time_it_is_asked_for(
    azurite: Azurite, client: BlobServiceClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    from jupyter_datalayer_agent_azure_storage.account import Account

    account = Account(azurite.connection())
    with account.client:
        with pytest.raises(ActionFailed, match="There is no container 'gone'"):
            await account.blobs("gone")
        client.create_container("here")
        with pytest.raises(ActionFailed, match="There is no blob 'b' in the container 'here'"):
            await account.use(
                lambda each: each.get_blob_client("here", "b").delete_blob(),
                container="here",
                blob="b",
            )


def test_a_wrong_key_is_said_before_anything_is_run(bare: RunningServer, azurite: Azurite) -> None:
    wrong = azurite.connection(base64.b64encode(b"w" * 64).decode())
    proposal = dry_run(bare, "list-blobs", "list the blobs of reports", connection=wrong)
    assert "refuses this key" in proposal["description"]
    assert not proposal["complete"]


def test_a_secret_of_the_form_is_kept_nowhere(
    bare: RunningServer, azurite: Azurite, reports: Any
) -> None:
    reports.upload_blob("sales.csv", b"1")
    asked = dry_run(bare, "list-containers", "list the containers")
    assert not asked["complete"]
    assert "AZURE_STORAGE_CONNECTION_STRING" in asked["parameters"][0]["problem"]

    given = {"connection": azurite.connection()}
    proposal = dry_run(bare, "download", "get sales.csv from reports", **given)
    assert proposal["complete"]
    assert run(bare, "list-containers", **given) == "- `reports`"
    run(bare, "download", container="reports", blob="sales.csv", **given)
    wrong = azurite.connection(base64.b64encode(b"w" * 64).decode())
    refused(bare, "list-containers", connection=wrong)
    refused(bare, "list-containers", connection=azurite.key)
    bodies = [str(bare.get("sessions")), str(proposal)]
    for session in bare.get("sessions")["sessions"]:
        bodies.append(str(bare.get(f"sessions/{session['id']}")))
    assert len(bodies) > 3
    bare.stop()
    kept = [each for each in bare.folder.rglob("*") if each.is_file()]
    assert any(each.suffix.startswith((".db", ".sqlite")) for each in kept), kept
    for key in (azurite.key, base64.b64encode(b"w" * 64).decode()):
        assert not [body for body in bodies if key in body]
        assert [each for each in kept if key.encode() in each.read_bytes()] == []


def test_its_benchmark_cases_are_run_with_those_of_the_service(tmp_path: Path) -> None:
    # Without the wizards, whose service has the same words.
    environment = install(EXAMPLE, tmp_path / "site")
    arguments = ["benchmark", "--service", "storage", "--min-success", "0", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "jupyter_datalayer_agent.cli", *arguments],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    own = [name for name in found["cases"] if name.startswith("storage/azure-")]
    assert len(own) >= 15
    assert found["total"]["runs"] == len(own) + len(builtin_cases("storage"))
    assert found["kinds"].keys() >= {
        *("routing", "parameters", "open", "refused"),
        *("misspelt", "language", "two", "history"),
    }
    # As many as were measured. Without an account no container is known to be one.
    assert found["total"]["right"] >= 32, found["cases"]

"""Services of other packages on a real server: the example of the guide, and broken ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.packages import install, write_example

BROKEN = """
from pydantic import BaseModel
from jupyter_datalayer_agent.services.action import Action
from jupyter_datalayer_agent.services.service import Service, ServiceConfig


class Lies(Action):
    id = "lies"
    title = "Lies"
    description = "Its schema cannot be made."

    class Parameters(BaseModel):
        model_config = {"arbitrary_types_allowed": True}
        thing: type(Ellipsis)

    async def execute(self, parameters, progress):
        raise AssertionError


def service(id, *actions):
    return Service(id, id, "Broken.", ServiceConfig(""), [], actions)


clash, panel = service("notebook"), service("clear")
lie = service("lie", Lies)
nothing = 3
"""
ENTRIES = {
    "clash": "There is a service /notebook already",
    "panel": "/clear is a command of the panel already",
    "lie": "core_schema",
    "nothing": "3 is no Service",
    "absent": "absent",
    "no_module": "no_such_module",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("packages")
    toml = write_example(folder / "backup")
    install(folder / "backup", folder / "site")
    (folder / "broken").mkdir()
    (folder / "broken" / "broken_services.py").write_text(BROKEN)
    lines = [
        f'{name} = "{"no_such_module" if name == "no_module" else "broken_services"}:{name}"'
        for name in ENTRIES
    ]
    toml = toml.replace("backup_service.py", "broken_services.py").replace("backup-", "broken-")
    toml = toml.replace('backup = "backup_service:SERVICE"', "\n".join(lines))
    (folder / "broken" / "pyproject.toml").write_text(toml)
    environment = install(folder / "broken", folder / "site")
    with RunningServer(folder, environment=environment) as running:
        (running.root / "cars.csv").write_text("mpg\n18\n")
        yield running


def values(proposal: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each.get("value") for each in proposal["parameters"]}


def dry_run(server: RunningServer, action: str, message: str, **parameters: Any) -> dict[str, Any]:
    body = {"message": message, "parameters": parameters}
    proposal: dict[str, Any] = server.post(f"services/backup/actions/{action}/dry-run", body)
    return proposal


def test_each_broken_service_is_one_problem_and_harms_no_other(server: RunningServer) -> None:
    listed = server.get("services")
    problems = listed["problems"]
    assert len(problems) == len(ENTRIES)
    log = server.log.read_text()
    for name, said in ENTRIES.items():
        (problem,) = [each for each in problems if each.startswith(f"{name} (")]
        assert said in problem
        assert "\n" not in problem
        assert log.count(problem) == 1
    services = [each["id"] for each in listed["services"]]
    assert {"notebook", "backup"} <= set(services)
    assert len(services) == len(set(services))
    assert server.get("services/notebook")["actions"][0]["id"] == "export"


def test_the_example_of_the_guide_runs_as_it_is(server: RunningServer) -> None:
    found = server.post("intent", {"message": "Make a backup copy of cars.csv as before.csv"})
    assert (found["service"], found["subcommand"]) == ("backup", "copy")
    proposal = dry_run(server, "copy", "Back up cars.csv")
    assert proposal["complete"]
    assert values(proposal) == {"file": "cars.csv", "to": None}
    ran = server.post("services/backup/actions/copy/run", {"parameters": {"file": "cars.csv"}})
    assert "cars.csv.bak" in ran["reply"]
    assert (server.root / "cars.csv.bak").read_text() == "mpg\n18\n"

    again = dry_run(server, "copy", "Back up cars.csv")
    assert not again["complete"]
    assert "already" in again["parameters"][1]["problem"]

    (server.root / "cars.csv").write_text("spoilt")
    (server.root / "cars.csv.2.bak").write_text("second")
    open_one = dry_run(server, "restore", "Bring cars.csv back")
    assert not open_one["complete"]
    assert open_one["destroys"] == "What cars.csv holds now is lost."
    chosen = dry_run(server, "restore", "", file="cars.csv", backup="cars.csv.bak")
    assert chosen["complete"]
    assert (server.root / "cars.csv").read_text() == "spoilt"
    body = {"parameters": {"file": "cars.csv", "backup": "cars.csv.bak"}}
    server.post("services/backup/actions/restore/run", body)
    assert (server.root / "cars.csv").read_text() == "mpg\n18\n"


def test_the_wizard_says_why_it_cannot_ask(server: RunningServer) -> None:
    for each in server.root.glob("*.bak"):
        each.unlink()
    proposal = dry_run(server, "restore", "Restore cars.csv")
    assert proposal["description"] == "There are no backups (.bak) under this folder."
    assert not proposal["complete"]

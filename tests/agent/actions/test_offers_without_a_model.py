"""Without a model, what a message may mean is offered; only what it names exactly is proposed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.agent.actions.test_services_over_http import events_of, new_session
from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.planning import of_type


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(tmp_path_factory.mktemp("offers")) as running:
        write_cars(running.root)
        (running.root / "prices.csv").write_text("name,price\na,1\n")
        yield running


def ask(server: RunningServer, message: str, **more: Any) -> list[dict[str, Any]]:
    return events_of(server, new_session(server), message=message, **more)


@pytest.mark.parametrize(
    "message",
    [
        "/environment upgrade numpy",
        "/data remove the csv",
        "/notebook make it nicer",
        "/data why is my frame slow",
        "/environment aktualisiere numpy",
        "/data lösche die csv",
        "/notebook mach es schöner",
        "/environment mets numpy à jour",
        "/data supprime le csv",
        "/notebook rends-le plus joli",
        "/environment actualiza numpy",
        "/data borra el csv",
        "/notebook ponlo más bonito",
        "/environment aggiorna numpy",
        "/data elimina il csv",
        "/notebook rendilo più bello",
        "/environment обнови numpy",
        "/data удали csv",
        "/notebook 把它弄得更漂亮",
        "/environment 升级 numpy",
        "/environment remove nothing, I only ask",
        "/environment remove numpy nicht",
        "/notebook export it to HTML, or better not",
        "/data convert cars.csv only when I say so",
    ],
)
def test_what_is_not_named_exactly_is_helped_with_or_offered(
    server: RunningServer, message: str
) -> None:
    events = ask(server, message)
    assert of_type(events, "action_proposed", "intent_detected", "error") == []
    [shown] = of_type(events, "actions_offered", "help_shown")
    service = message.split()[0].removeprefix("/")
    if shown["type"] == "actions_offered":
        assert {each["service"] for each in shown["offers"]} == {service}
        assert 2 <= len(shown["offers"]) <= 4
    else:
        assert [each["id"] for each in shown["services"]] == [service]
    assert f"/{service}" in of_type(events, "final_reply")[0]["text"]


@pytest.mark.parametrize(
    ("message", "action", "values"),
    [
        ("/data convert", "convert", {}),
        ("/data convert cars.csv Parquet", "convert", {"data": "cars.csv", "format": "parquet"}),
        ("/notebook Export the notebook", "export", {"notebook": "cars.ipynb"}),
        ("/notebook export html", "export", {"notebook": "cars.ipynb", "format": "html"}),
        ("/environment remove numpy", "remove", {"packages": ["numpy"]}),
        (
            "/data Join prices.csv with cars.csv on name",
            None,
            {},
        ),
    ],
)
def test_what_is_named_exactly_is_proposed(
    server: RunningServer, message: str, action: str | None, values: dict[str, Any]
) -> None:
    events = ask(server, message)
    proposed = of_type(events, "action_proposed")
    if action is None:
        assert proposed == []
        return
    [proposal] = proposed
    assert proposal["action"] == action
    found = {each["name"]: each["value"] for each in proposal["parameters"] if each["found"]}
    assert found == values


def test_a_click_on_an_offer_finds_the_values_in_the_message(server: RunningServer) -> None:
    session = new_session(server)
    message = "/data convert cars.csv to Parquet"
    [offered] = of_type(events_of(server, session, message=message), "actions_offered")
    first = offered["offers"][0]
    assert first["title"].endswith("Convert a data file")
    choice = {"service": first["service"], "subcommand": first["subcommand"]}
    [proposal] = of_type(
        events_of(server, session, message=message, intent=choice), "action_proposed"
    )
    found = {each["name"]: each["value"] for each in proposal["parameters"] if each["found"]}
    assert found == {"data": "cars.csv", "format": "parquet"}
    # What an offer says is a message that proposes it, also where there are no buttons.
    [proposal] = of_type(ask(server, first["message"]), "action_proposed")
    assert proposal["action"] == "convert"


def test_a_message_without_a_command_is_answered_with_offers(server: RunningServer) -> None:
    events = ask(server, "Export this notebook as HTML")
    assert of_type(events, "action_proposed", "intent_detected") == []
    [offered] = of_type(events, "actions_offered")
    assert offered["offers"][0]["title"] == "Notebook: Export the notebook"


def test_offers_in_a_cells_chat_are_text(server: RunningServer) -> None:
    events = ask(server, "/data convert cars.csv to Parquet", location="inline")
    assert of_type(events, "actions_offered") == []
    assert "`/data convert`" in of_type(events, "final_reply")[0]["text"]


def test_programs_get_what_is_near_and_no_choice(server: RunningServer) -> None:
    reply = server.post("intent", {"message": "/environment upgrade numpy"})
    assert reply.get("subcommand") is None
    assert reply["service"] == "environment"

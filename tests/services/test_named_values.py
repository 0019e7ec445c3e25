"""Values that a message names by the word for their parameter, and words that are merely there."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.services.matcher import Matcher
from jupyter_datalayer_agent.services.questions import Question
from tests.services.context import FakeContext

CONTAINER = Question("container", "Container", also_called=("conteneur", "contenedor"))
NEW = Question("container", "Name", kind="name", also_called=("conteneur",))
BLOB = Question("blob", "Blob", kind="remote-path")
FILES = ["cars.csv", "data/old.csv"]


async def value_of(question: Question, message: str) -> object:
    found = await Matcher(FakeContext(FILES)).fill([question], message, {})
    answer = found.get(question.name)
    if answer is None:
        return None
    # It says where in the message it is from.
    assert answer.source is not None
    assert answer.source in message
    assert str(answer.value) in answer.source
    return answer.value


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("upload cars.csv to the container reports", "reports"),
        ("upload cars.csv to the container reports, please", "reports"),
        ("upload cars.csv to container sales-2024 and list it", "sales-2024"),
        ("list the blobs in the container reports of my account", "reports"),
        ("list the blobs in the Container Reports!", "Reports"),
        ('delete the container "old"', "old"),
        ("delete the “old” container", "old"),
        ("container: reports", "reports"),
        ("a container called public for the website", "public"),
        ("upload it to the sales_2024 container", "sales_2024"),
        ("lade cars.csv in den Container reports hoch", "reports"),
        ("lösche den Container „alt“", "alt"),
        ("lege den Container reports an", "reports"),
        ("lege cars.csv im Container namens neu ab", "neu"),
        ("supprime le conteneur rapports", "rapports"),
        ("supprime le conteneur « été »", "été"),
        ("borra el contenedor informes por favor", "informes"),
        ("not the container reports but the container sales", "sales"),
    ],
)
async def test_a_value_beside_its_word_is_found(message: str, value: str) -> None:
    assert await value_of(CONTAINER, message) == value


@pytest.mark.parametrize(
    "message",
    [
        "upload cars.csv to the container",
        "upload cars.csv to a container in Azure",
        "upload cars.csv to the container and export the notebook",
        "delete the container that is empty",
        "list the containers",
        "list the container names",
        "list all container images",
        "upload it to the old container",
        "upload it to the container we made",
        "why does the container report an error?",
        "create a container reports",
        "copy from the container reports to the container sales",
        "do not delete the container reports",
        "the container big red one",
        "den Container öffnen",
        "lösche den Container bitte",
        "lade die Datei in den Container hoch",
        "den Container umschreiben",
        "supprime le conteneur privé",
        "el contenedor vacío",
        "the containerization reports",
    ],
)
async def test_a_word_that_only_follows_is_no_value(message: str) -> None:
    assert await value_of(CONTAINER, message) is None


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("create a container reports", "reports"),
        ("create a container called reports", "reports"),
        ("create a container with the name reports", "reports"),
        ("create a container for reports", None),
        ("create a private container", None),
        ("make a new storage container", None),
        ("crée un conteneur rapports", "rapports"),
        ("change its name please", None),
    ],
)
async def test_the_name_of_something_new(message: str, value: str | None) -> None:
    assert await value_of(NEW, message) == value


@pytest.mark.parametrize(
    ("message", "value"),
    [
        # There is a file of that name here; the blob is elsewhere.
        ("delete the blob old.csv from reports", "old.csv"),
        ("download sales.csv from the container reports", "sales.csv"),
        ("download sales.csv as s.csv", "sales.csv"),
        ("download the blob 2024/q 1.csv", None),
        ('download the blob "2024/q 1.csv"', "2024/q 1.csv"),
        ("download a blob", None),
        ("compare sales.csv with old.csv", None),
        ("anything but not sales.csv", None),
    ],
)
async def test_a_file_that_is_elsewhere(message: str, value: str | None) -> None:
    assert await value_of(BLOB, message) == value

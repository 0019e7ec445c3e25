"""A pytest plugin: one real server and one scripted model for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer


@pytest.fixture(scope="module")
def shared_model() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer() as model:
        yield model


@pytest.fixture
def model(shared_model: ScriptedModelServer) -> Iterator[ScriptedModelServer]:
    """The scripted model with an empty script; afterwards nothing may have gone wrong in it."""
    shared_model.reset()
    yield shared_model
    assert shared_model.errors == []


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    with RunningServer(folder, api_base=shared_model.base_url) as running:
        write_cars(running.root)
        # The model library is loaded once here, so that no test waits for it.
        shared_model.script(Say("Ready."))
        running.post("chat", {"message": "hello"})
        yield running

"""These tests need the real Jupyter AI: ``scripts/test-jupyter-ai`` runs them where it is."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer


@pytest.fixture(autouse=True, scope="session")
def jupyter_ai() -> None:
    """Skip where it is not installed. The tests are listed there, so that a check can see them."""
    if find_spec("jupyter_ai_persona_manager") is None:
        pytest.skip("Jupyter AI is not installed: scripts/test-jupyter-ai has it")


@pytest.fixture(scope="session")
def shared_model() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer() as model:
        yield model


@pytest.fixture(scope="session")
def server(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    """A server with Jupyter AI. The preloaded ones have imports of another environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunningServer, "preloaded", None)
        folder = tmp_path_factory.mktemp("server")
        with RunningServer(folder, api_base=shared_model.base_url) as running:
            write_cars(running.root)
            shared_model.script(Say("Ready."))
            running.post("chat", {"message": "hello"})
            yield running

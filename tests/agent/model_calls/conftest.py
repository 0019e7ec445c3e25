"""A server for each of the two forms of a request, for tests of what both have to do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.models.calls import APIS
from tests.support.jupyter import RunningServer
from tests.support.model_server import ScriptedModelServer


@pytest.fixture(params=APIS, scope="module")
def api(request: pytest.FixtureRequest) -> str:
    """``chat`` or ``responses``: the form in which the model is asked."""
    return str(request.param)


@pytest.fixture(scope="module")
def server_of_api(
    api: str, tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    """A server that asks the scripted model in this form."""
    folder = tmp_path_factory.mktemp(api)
    with RunningServer(
        folder, api_base=shared_model.base_url, environment={"DATALAYER_AGENT_MODEL_API": api}
    ) as server:
        yield server

"""Providers of other packages: what is broken in one is named, and nothing else is affected."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_datalayer_agent.models import default_model, find_model, models_reply, readiness
from jupyter_datalayer_agent.models.catalogue import installed_providers
from jupyter_datalayer_agent.models.types import ModelError, ModelRequest, ResponseDone, TextChunk
from jupyter_datalayer_agent.models.with_local_models import WithInstalledProviders
from tests.support.packages import declare, import_from

CODE = """
from jupyter_datalayer_agent.models.types import *
from jupyter_datalayer_agent.models.types import CatalogueModel, ModelProvider
from jupyter_datalayer_agent.protocol.requests import Usage

class Echo:
    async def stream(self, request):
        name = request.model.partition("/")[2]
        yield StreamStarted()
        yield TextChunk("t", f"{request.api_base} {request.api_key}")
        if name == "raises":
            raise RuntimeError("no route, with sk-secret-0123456789abcdef")
        if name == "refuses":
            raise ModelError("rate_limit", "Wait.")
        if name == "odd":
            yield "text"
        if name != "half":
            yield ResponseDone((), Usage(input_tokens=1, output_tokens=1, total_tokens=2))

NAMES = ["good", "raises", "refuses", "odd", "half"]
echo = ModelProvider("Echo", [CatalogueModel(n, n, 1000) for n in NAMES], Echo, can_be_default=True)

def unsure():
    raise KeyError("no home")
moody = ModelProvider("Moody", [CatalogueModel("one", "One", 1)], Echo, unsure, True)
"""
ENTRIES = """
[jupyter_datalayer_agent.model_providers]
moody = echo_models:moody
echo = echo_models:echo
openai = echo_models:echo
local = echo_models:echo
gone = echo_models:nothing_of_this_name
wrong = echo_models:NAMES
missing = no_such_module:provider
a/b = echo_models:echo
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "echo_models.py").write_text(CODE)
    declare(tmp_path, "echo-models", ENTRIES)
    declare(tmp_path, "impostor", "[jupyter_datalayer_agent.model_providers]\necho = im:postor\n")
    import_from(tmp_path, monkeypatch)
    monkeypatch.delitem(sys.modules, "echo_models", raising=False)
    installed_providers.cache_clear()
    yield
    installed_providers.cache_clear()
    sys.modules.pop("echo_models", None)


def test_a_package_is_imported_when_a_model_of_its_own_is_asked_for() -> None:
    assert readiness("openai/mine", "http://127.0.0.1:9", {}).ready
    assert "echo_models" not in sys.modules
    assert readiness("echo/good", None, {}).ready
    assert "echo_models" in sys.modules


def test_its_models_are_listed_known_and_the_default_where_no_key_is_set() -> None:
    reply = models_reply(environ={})
    assert reply.default == "echo/good"
    assert reply.ready
    [info] = [each for each in reply.models if each.id == "echo/good"]
    assert (info.label, info.provider, info.ready) == ("good", "Echo", True)
    found = find_model("echo/good")
    assert found is not None
    assert found.context_window == 1000
    assert default_model({"OPENAI_API_KEY": "sk-any"}) == "openai/gpt-6.1-sol"


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("gone/x", "gone (echo_models:nothing_of_this_name) of echo-models cannot be used"),
        ("wrong/x", "list is not a ModelProvider"),
        ("missing/x", "No module named 'no_such_module'"),
        ("echo/other", "Echo doesn't have echo/other"),
        ("moody/one", "Moody failed to say whether it is ready: KeyError"),
    ],
)
def test_what_cannot_be_used_says_why(model: str, reason: str) -> None:
    state = readiness(model, None, {})
    assert not state.ready
    assert reason in state.reason


def test_broken_packages_are_named_in_the_log_and_others_are_listed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    listed = [each.id for each in models_reply(environ={}).models]
    assert "moody/one" in listed
    assert "echo/good" in listed
    assert not any(each.startswith(("gone", "wrong", "missing")) for each in listed)
    for part in ("openai", "local", "gone", "wrong", "missing"):
        assert any(f"not added: {part} (" in message for message in caplog.messages), part
    (twice,) = [message for message in caplog.messages if "not added: echo (" in message]
    assert twice.endswith("echo (im:postor) of impostor: the name is taken.")
    assert any("a/b" in message and "valid prefix" in message for message in caplog.messages)


async def ask(model: str) -> list[object]:
    class Others:
        def stream(self, request: ModelRequest) -> None:
            raise AssertionError(f"{request.model} is of a package.")

    called = WithInstalledProviders(Others(), installed_providers)  # type: ignore[arg-type]
    request = ModelRequest(
        model, "", [], api_base="http://127.0.0.1:9/v1", api_key="sk-of-another-server"
    )
    return [event async for event in called.stream(request)]


async def test_a_provider_gets_no_address_or_key_of_others() -> None:
    _, text, done = await ask("echo/good")
    assert text == TextChunk("t", "None None")
    assert isinstance(done, ResponseDone)


@pytest.mark.parametrize(
    ("model", "code", "message"),
    [
        ("echo/raises", "server", "Echo failed: no route"),
        ("echo/refuses", "rate_limit", "Wait."),
        ("echo/odd", "server", "str is not an event"),
        ("echo/half", "broken_stream", "The answer of Echo ended before it was complete."),
        ("missing/x", "no_model", "No module named 'no_such_module'"),
    ],
)
async def test_a_failed_call_is_a_model_error_that_names_the_provider(
    model: str, code: str, message: str
) -> None:
    with pytest.raises(ModelError) as raised:
        await ask(model)
    assert raised.value.code == code
    assert message in raised.value.message
    assert "sk-secret" not in raised.value.message

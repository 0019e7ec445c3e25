"""Streams that are longer than what is read of an answer, whatever they say."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.models import stream_bytes
from jupyter_datalayer_agent.models.types import SIZE_LIMIT
from tests.models.calls import APIS, answer, model, request
from tests.support.model_server import Say, ScriptedModelServer

LOWERED = 200_000


@pytest.mark.parametrize("api", APIS)
async def test_an_answer_ends_where_its_bytes_pass_the_limit(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_bytes, "MAX_ANSWER_BYTES", LOWERED)
    text = "".join(f"{number:06} " for number in range(2_000))
    with ScriptedModelServer(Say(text, chunk=4), Say("The next one.")) as server:
        by = model()
        answered = await answer(request(server, api), by)
        after = await answer(request(server, api), by)
    assert answered.done.finish_reason == SIZE_LIMIT
    assert answered.text
    assert text.startswith(answered.text)
    assert len(answered.text) < len(text)
    assert after.text == "The next one."

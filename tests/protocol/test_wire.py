"""Names on the wire, and the description that is made from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from jupyter_datalayer_agent.protocol.events import EVENT_ADAPTER, TextDelta
from jupyter_datalayer_agent.protocol.ops import OP_ADAPTER
from jupyter_datalayer_agent.protocol.requests import ChatRequest
from jupyter_datalayer_agent.server.routes import ROUTES, document
from jupyter_datalayer_agent.tools.builtin.notebook_change import UpdateNotebookCell

OPENAPI = Path(__file__).parents[2] / "openapi.json"


def test_json_is_camel_case_and_both_spellings_are_taken() -> None:
    event = TextDelta(seq=3, item_id="m1", delta="Hi", at=5)
    assert event.to_wire() == {
        "type": "text_delta", "seq": 3, "at": 5, "itemId": "m1", "delta": "Hi"
    }  # fmt: skip
    assert EVENT_ADAPTER.validate_python(event.to_wire()) == event
    snake = UpdateNotebookCell.model_validate({"cell_id": "a", "content": "x"})
    assert snake == UpdateNotebookCell.model_validate({"cellId": "a", "content": "x"})


def test_left_out_and_null_are_different_for_the_active_notebook() -> None:
    assert "active_notebook" not in ChatRequest(message="x").model_fields_set
    null = ChatRequest.model_validate({"message": "x", "activeNotebook": None})
    assert "active_notebook" in null.model_fields_set


@pytest.mark.parametrize("op", [{}, {"type": "explode"}, {"type": "dequeue"}, {"type": "undo"}])
def test_an_op_that_does_not_fit_is_refused(op: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        OP_ADAPTER.validate_python(op)


def test_openapi_describes_every_route_and_is_current() -> None:
    described = document()
    assert set(described["paths"]) == {f"/{route.path}" for route in ROUTES}
    assert json.loads(OPENAPI.read_text(encoding="utf-8")) == json.loads(json.dumps(described))


def test_every_operation_says_how_it_fails() -> None:
    for path in document()["paths"].values():
        for operation in path.values():
            assert "default" in operation["responses"]

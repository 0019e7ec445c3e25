"""Bounds that are checked at the call and not sent with each request."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from jupyter_datalayer_agent.protocol.base import Wire
from jupyter_datalayer_agent.tools.builtin.history import GetTurnById, SearchChatHistory
from jupyter_datalayer_agent.tools.builtin.notebook_change import AddNotebookCell, MoveNotebookCell
from jupyter_datalayer_agent.tools.builtin.notebook_read import GetCellOutputs, GetNotebookCells
from jupyter_datalayer_agent.tools.builtin.run_cells import RunNotebookCells
from jupyter_datalayer_agent.tools.schema import compact_schema


@pytest.mark.parametrize(
    ("model", "arguments", "says"),
    [
        (GetNotebookCells, {"start": -1}, "must be 0 or more"),
        (GetNotebookCells, {"limit": 0}, "must be 1 or more"),
        (GetCellOutputs, {"cellId": "a", "offset": -5}, "must be 0 or more"),
        (GetTurnById, {"number": 0}, "must be 1 or more"),
        (RunNotebookCells, {"all": True, "timeoutSeconds": 0}, "must be more than 0"),
        (RunNotebookCells, {"all": True, "timeoutSeconds": float("nan")}, "must be more than 0"),
        (SearchChatHistory, {"query": ""}, "at least 1 character"),
        (MoveNotebookCell, {"cellId": "a", "position": {}}, "as after or as before"),
        (
            MoveNotebookCell,
            {"cellId": "a", "position": {"after": "b", "before": "c"}},
            "as after or as before",
        ),
        (MoveNotebookCell, {"cellId": "a", "position": {"behind": "b"}}, "behind"),
    ],
)
def test_what_means_nothing_is_refused(
    model: type[Wire], arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValidationError, match=says):
        model.model_validate(arguments)


def test_of_too_much_there_is_the_most() -> None:
    assert SearchChatHistory.model_validate({"query": "a", "limit": 1_000}).limit == 50
    assert SearchChatHistory.model_validate({"query": "a", "limit": 0}).limit == 1
    assert SearchChatHistory.model_validate({"query": "a"}).limit == 20
    assert GetCellOutputs.model_validate({"cellId": "a", "limit": 10**9}).limit == 40_000
    run = {"all": True, "timeoutSeconds": 1e9}
    assert RunNotebookCells.model_validate(run).timeout_seconds == 86_400
    assert RunNotebookCells.model_validate({"all": True}).timeout_seconds is None


def test_no_bound_is_sent() -> None:
    for model in (SearchChatHistory, GetCellOutputs, RunNotebookCells, GetNotebookCells):
        sent = str(compact_schema(model))
        assert not any(
            word in sent for word in ("minimum", "maximum", "exclusiveMinimum", "minLength")
        )


@pytest.mark.parametrize(
    ("model", "rest"),
    [(AddNotebookCell, {"type": "code", "content": "x"}), (MoveNotebookCell, {"cellId": "a"})],
)
def test_a_place_beside_a_cell_is_said_to_be_its_id(
    model: type[Wire], rest: dict[str, Any]
) -> None:
    position = compact_schema(model)["properties"]["position"]
    assert position["description"] == "after, before: an id"
    assert model.model_validate({**rest, "position": {"before": "b"}})

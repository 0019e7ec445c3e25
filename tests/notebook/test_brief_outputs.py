"""Outputs as a context needs them; the page has the same cases (``briefOutputs.spec.ts``)."""

from __future__ import annotations

from typing import Any

from jupyter_datalayer_agent.notebook.brief_outputs import brief_errors, brief_outputs

TRACE = ["Cell In[1], line 1", "x" * 30_000]


def display(data: dict[str, Any]) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data}


def stream(text: Any) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def failure(traceback: list[str]) -> dict[str, Any]:
    return {"output_type": "error", "ename": "KeyError", "evalue": "'a'", "traceback": traceback}


def test_texts_until_they_are_long_no_pictures_and_every_error() -> None:
    outputs = [
        stream(["y" * 300, "y" * 300]),
        display({"text/plain": "z" * 600, "image/png": "AAAA"}),
        stream("left out"),
        failure(TRACE[:1]),
    ]
    assert brief_outputs(outputs) == [
        stream("y" * 600),
        display({"text/plain": "z" * 400, "image/png": ""}),
        failure(TRACE[:1]),
    ]
    assert brief_outputs([failure(TRACE), display({"application/json": {"k": [1]}})]) == [
        failure([]),
        display({"application/json": {"k": [1]}}),
    ]


def test_errors_alone_have_no_traceback() -> None:
    assert brief_errors([stream("x"), failure(TRACE[:1])]) == [failure([])]


def test_what_is_missing_is_empty() -> None:
    assert brief_outputs([{"output_type": "stream"}, {"output_type": "error"}, display({})]) == [
        {"output_type": "stream", "name": None, "text": ""},
        {"output_type": "error", "ename": "", "evalue": "", "traceback": []},
        display({}),
    ]


def test_large_json_is_cut_and_a_chart_is_only_named() -> None:
    data = {"application/json": list(range(9_000)), "application/vnd.plotly.v1+json": {"data": []}}
    (output,) = brief_outputs([display(data)])
    assert len(output["data"]["application/json"]) == 1_000
    assert output["data"]["application/vnd.plotly.v1+json"] == {}

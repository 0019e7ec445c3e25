"""Lexical documents that cannot be read, written or run: every tool of a turn says why, and the
file is as it was, byte for byte."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.lexical.block_types import new_blocks
from jupyter_datalayer_agent.notebook.lexical.convert import new_document
from tests.support.jupyter import RunningServer
from tests.support.lexical.documents import Documents
from tests.support.model_server import Call, ScriptedModelServer

REPORT = new_document(
    [*new_blocks("markdown", "# Title\n\nText"), *new_blocks("jupyter-input", "6 * 7")]
)


def calls(ids: list[str]) -> list[Call]:
    """A call of every tool that reads, changes or runs blocks: of a heading, a text and code."""
    heading, text, code = ids
    return [
        Call("readAllBlocks"),
        Call("readBlock", {"blockId": heading}),
        Call("insertBlock", {"content": "New"}),
        Call("insertBlocks", {"blocks": [{"content": "New"}], "index": 0}),
        Call("updateBlock", {"blockId": text, "content": "Other"}),
        Call("deleteBlocks", {"blockIds": [text]}),
        Call("runBlock", {"blockId": code}),
        Call("runAllBlocks"),
    ]


def errors_of(reply: Any) -> list[str]:
    """What the model was told, of calls that all failed."""
    made = reply["toolCalls"]
    assert [each["status"] for each in made] == ["error"] * len(made), made
    return [each["output"]["error"]["message"] for each in made]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello", "not valid JSON"),
        ('{"cells": [], "nbformat": 4}', "no root"),
        ('{"root":{"type":"root","children":[' + "[" * 100_000 + "]" * 100_000 + "]}}", "nested"),
        ("x" * 50_000_000, "50,000,000 bytes"),
        (f'{{"root":{{"type":"root","children":[],"x":"{"x" * 50_000_000}"}}}}', "bytes; at most"),
    ],
    ids=["text", "notebook", "deep", "large", "large-document"],
)
def test_every_tool_of_a_turn_refuses_what_it_cannot_read(
    documents: Documents, text: str, said: str
) -> None:
    file = documents.write("bad.dlex", text)
    before = file.read_bytes()
    reply = documents.turn(*calls(["a", "b", "c"]), **documents.at_hand("bad.dlex"))
    for message in errors_of(reply):
        assert said in message
        assert "bad.dlex" in message
    assert reply["changes"] == []
    assert "bad.dlex cannot be read" in documents.model.requests[-1].text
    assert file.read_bytes() == before


def test_what_would_be_too_large_or_too_deep_is_not_written(documents: Documents) -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "A" * 9_999_000}}
    state = json.loads(REPORT)
    output = {"type": "jupyter-output", "version": 1, "outputs": [picture]}
    state["root"]["children"].append(output)
    file = documents.write("large.dlex", json.dumps(state))
    before = file.read_bytes()
    deep: dict[str, Any] = {"type": "paragraph", "version": 1, "children": []}
    for _ in range(150):
        deep = {"type": "quote", "version": 1, "children": [deep]}
    insert = Call("insertBlock", {"content": "word " * 100})
    reply = documents.turn(insert, **documents.at_hand("large.dlex"))
    assert "at most 10,000,000 are edited" in errors_of(reply)[0]
    assert file.read_bytes() == before
    error = documents.call("insertBlock", "large.dlex", node=deep)["error"]
    assert "nested more than 200 deep" in error["message"]
    assert file.read_bytes() == before


def newer(node: dict[str, Any]) -> dict[str, Any]:
    return {**node, "version": 2, "shape": {"kind": "new"}}


def in_an_item(node: dict[str, Any]) -> dict[str, Any]:
    node["children"][0]["children"][0] |= {"version": 2, "words": ["one"]}
    return node


@pytest.mark.parametrize(
    ("type_", "content", "change", "said"),
    [
        ("paragraph", "Text", newer, "a paragraph of version 2"),
        ("jupyter-input", "6 * 7", newer, "a jupyter-input of version 2"),
        ("list", "- one", in_an_item, "a text of version 2"),
    ],
    ids=["block", "code", "inside"],
)
def test_a_known_node_of_a_newer_version_is_read_and_neither_rewritten_nor_run(
    documents: Documents,
    type_: str,
    content: str,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    said: str,
) -> None:
    (node,) = new_blocks(type_, content)
    file = documents.write("new.dlex", new_document([change(node)]))
    before = file.read_bytes()
    path = documents("new.dlex")
    (block,) = documents.output("readAllBlocks", "new.dlex")["blocks"]
    assert block["content"] == content
    writes = [
        Call("updateBlock", {"blockId": block["id"], "content": "Other"}),
        Call("updateBlock", {"blockId": block["id"], "type": "quote"}),
        Call(
            "updateBlock", {"blockId": block["id"], "edits": [{"oldString": "e", "newString": ""}]}
        ),
    ]
    runs = [Call("runBlock", {"blockId": block["id"]}), Call("runAllBlocks")]
    reply = documents.turn(
        Call("readAllBlocks"),
        *writes[:2],
        *(runs if type_ == "jupyter-input" else writes[2:]),
        **documents.at_hand("new.dlex"),
    )
    assert reply["toolCalls"].pop(0)["status"] == "ok"
    for message in errors_of(reply):
        assert said in message
        assert "version 1" in message
    assert file.read_bytes() == before
    # What stands beside it can be changed, and it stays as it is.
    documents.output("insertBlock", "new.dlex", content="Mine.")
    assert documents.nodes("new.dlex")[0] == json.loads(before)["root"]["children"][0]
    # Who knows the newer version gives its node.
    given = {**documents.nodes("new.dlex")[0], "mine": True}
    documents.output("updateBlock", "new.dlex", blockId=block["id"], node=given)
    assert documents.nodes("new.dlex")[0] == given
    assert path


# root writes everything, unless the server is begun without that right.
AS_USER = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []


@pytest.fixture
def protected(tmp_path: Path, model: ScriptedModelServer) -> Iterator[Documents]:
    """A folder of a server that may not write what nobody may."""
    if AS_USER and shutil.which(AS_USER[0]) is None:
        pytest.skip("root may write everything")
    with RunningServer(tmp_path / "server", api_base=model.base_url, launcher=AS_USER) as running:
        yield Documents(running, model, "protected")


def test_a_file_without_write_permission_stays_and_every_change_says_so(
    protected: Documents,
) -> None:
    file = protected.write("a.dlex", REPORT)
    file.chmod(0o444)
    ids = [each["id"] for each in protected.output("readAllBlocks", "a.dlex")["blocks"]]
    read_all, read, *changes, run, run_all = calls(ids)
    reply = protected.turn(read_all, read, *changes, **protected.at_hand("a.dlex"))
    done = reply["toolCalls"]
    assert [each["status"] for each in done] == ["ok"] * 2 + ["error"] * len(changes)
    for each in done[2:]:
        message = each["output"]["error"]["message"]
        assert "a.dlex could not be saved" in message
        assert "ermission" in message
    assert reply["changes"] == []
    # Code runs, with its real status, and that its outputs are not in the file is said.
    reply = protected.turn(read_all, run, run_all, **protected.at_hand("a.dlex"))
    for each in reply["toolCalls"][1:]:
        (ran,) = each["output"]["output"]["runs"]
        assert (ran["status"], ran["outputs"]) == ("ok", "42")
        assert "could not be saved" in ran["note"]
    assert file.read_text() == REPORT
    assert [each.name for each in protected.folder.iterdir()] == ["a.dlex"]


def test_a_kernel_that_is_gone_before_the_run_is_started_anew(documents: Documents) -> None:
    documents.write("k.dlex", REPORT)
    (*_, code) = documents.output("readAllBlocks", "k.dlex")["blocks"]
    documents.output("runBlock", "k.dlex", blockId=code["id"])
    (kernel,) = [
        each["kernel"]["id"]
        for each in documents.server.get("/api/sessions")
        if each["path"] == documents("k.dlex")
    ]

    def ended(*_: Any) -> Call:
        documents.server.request("DELETE", f"/api/kernels/{kernel}").raise_for_status()
        return Call("runBlock", {"blockId": code["id"]})

    reply = documents.turn(Call("readAllBlocks"), ended, **documents.at_hand("k.dlex"))
    (run,) = reply["toolCalls"][-1]["output"]["output"]["runs"]
    assert (run["status"], run["outputs"]) == ("ok", "42")


def test_a_kernel_that_cannot_be_had_is_said_and_nothing_is_written(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    """As where the environment of the kernel was removed."""
    none = ["--KernelSpecManager.allowed_kernelspecs={'none'}"]
    with RunningServer(tmp_path / "server", api_base=model.base_url, arguments=none) as running:
        documents = Documents(running, model, "kernels")
        file = documents.write("a.dlex", REPORT)
        reply = documents.turn(
            Call("readAllBlocks"),
            Call("runAllBlocks"),
            Call("selectKernel", {"kernelName": "python3"}),
            **documents.at_hand("a.dlex"),
        )
        read, run, select = reply["toolCalls"]
        assert read["status"] == "ok"
        for each in (run, select):
            assert each["status"] == "error"
            assert "kernel" in each["output"]["error"]["message"]
        assert run["output"]["error"]["code"] == "kernel_error"
        assert file.read_text() == REPORT

"""The block tools on Lexical documents: over HTTP, in turns, with a real kernel, and undone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agent.changes.test_undo_over_http import undo
from tests.support.lexical import assert_lexical
from tests.support.lexical.documents import Documents
from tests.support.model_server import Call
from tests.support.page import FakePage

FOREIGN = """{"version": 9, "root": { "type":"root",  "$":{"x":1}, "children": [
  {"type":"heading","tag":"h1","version":1,"children":[{"type":"text","text":"Caf\\u00e9","format":0,
    "style":"color: red","mode":"normal","version":1}],"direction":"ltr","format":"","indent":0},
  {"type":"collapsible","version":7,"open":true,"children":[{"type":"text","text":"inside","version":1}]},
  {"version":1,"type":"paragraph","children":[
    {"type":"text","text":"User's words","version":1,"format":1}]}
 ], "direction":null, "format":"", "indent":0, "version":1}, "after": [1, 2.50e3]}
"""


def test_a_report_is_written_run_and_repaired(documents: Documents) -> None:
    path = documents.output("createLexical", name=documents("report"))["path"]
    assert path == documents("report.dlex")
    document = "report.dlex"
    codes = [f"x{number} = {number}\nx{number}" for number in range(10)]
    codes[4] = "missing + 1"
    made = documents.output(
        "insertBlocks",
        document,
        blocks=[
            {"content": "# Report\n\nWith **bold** and $a^2$.\n\n- one\n  - [ ] two"},
            *({"type": "jupyter-input", "content": code} for code in codes),
            {"type": "jupyter-input", "content": PICTURE},
        ],
    )["blocks"]
    assert [each["type"] for each in made[:3]] == ["heading", "paragraph", "list"]
    assert len(documents.nodes(document)) == 14, "the empty paragraph is gone"
    ran = documents.call("runAllBlocks", document)
    assert ran["error"]["code"] == "kernel_error"
    assert "Block 12" in ran["error"]["message"], "outputs are blocks, too"
    assert "NameError" in ran["error"]["message"]
    assert [run["status"] for run in ran["output"]["runs"]] == (
        ["ok"] * 4 + ["error"] + ["skipped"] * 6
    )
    bad = next(run["id"] for run in ran["output"]["runs"] if run["status"] == "error")
    assert documents.output("readBlock", document, blockId=bad)["hasOutput"]
    documents.output("updateBlock", document, blockId=bad, content="x4 = 4\nx4")
    runs = documents.output("runAllBlocks", document)["runs"]
    assert [run["status"] for run in runs] == ["ok"] * 11
    read = documents.output("readAllBlocks", document)["blocks"]
    assert [each["outputs"] for each in read[3:13]] == [str(number) for number in range(10)]
    picture = documents.nodes(document)[-1]
    assert picture["type"] == "jupyter-output"
    assert picture["jupyterInputNodeUuid"] == documents.nodes(document)[-2]["jupyterInputNodeUuid"]
    assert "image/png" in picture["outputs"][0]["data"]
    assert_lexical([(documents.folder / document).read_text()])


PICTURE = """from IPython.display import Image
import base64
Image(base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="))"""


def test_what_was_not_changed_stays_byte_for_byte(documents: Documents) -> None:
    file = documents.write("a.lexical", FOREIGN)
    blocks = documents.output("readAllBlocks", "a.lexical")["blocks"]
    assert [each["type"] for each in blocks] == ["heading", "collapsible", "paragraph"]
    assert "inside" in blocks[1]["content"]
    documents.output(
        "insertBlock", "a.lexical", content="Mine.", position={"after": blocks[1]["id"]}
    )
    head, _, tail = FOREIGN.partition('\n  {"version":1,"type":"paragraph"')
    text = file.read_text()
    assert text.startswith(head)
    assert text.endswith(tail)
    documents.output("updateBlock", "a.lexical", blockId=blocks[2]["id"], content="*Other* words")
    text = file.read_text()
    assert text.startswith(head)
    new = documents.nodes("a.lexical")[3]
    assert [each["text"] for each in new["children"]] == ["Other", " words"]
    # Its id is still its own, wherever it stands.
    again = documents.output("readAllBlocks", "a.lexical")["blocks"]
    assert again[3]["id"] == blocks[2]["id"]
    documents.output("deleteBlocks", "a.lexical", blockIds=[again[2]["id"], again[3]["id"]])
    assert json.loads(file.read_text())["after"] == [1, 2500]


def test_a_turn_is_undone_and_what_the_user_did_since_stays(documents: Documents) -> None:
    file = documents.write("a.lexical", FOREIGN)
    path = documents("a.lexical")
    turn: Any = {"attachments": [{"kind": "file", "path": path}], "activeNotebook": path}
    ids = {
        each["index"]: each["id"]
        for each in documents.output("readAllBlocks", "a.lexical")["blocks"]
    }
    reply = documents.turn(
        Call("insertBlock", {"type": "jupyter-input", "content": "6 * 7", "index": 1}),
        Call("updateBlock", {"blockId": ids[2], "content": "agent's words"}),
        Call("runAllBlocks", {}),
        **turn,
    )
    assert [each["status"] for each in reply["toolCalls"]] == ["ok", "ok", "ok"]
    assert [each["type"] for each in documents.nodes("a.lexical")] == [
        "heading", "jupyter-input", "jupyter-output", "collapsible", "paragraph",
    ]  # fmt: skip
    assert {each["path"] for each in reply["changes"]} == {path}
    left = file.read_text()
    undo(documents.server, reply)
    assert file.read_text() == FOREIGN
    # The same changes again, and the user writes elsewhere in between.
    file.write_text(FOREIGN)
    reply = documents.turn(
        Call("insertBlock", {"content": "Agent's.", "index": 0}),
        Call("deleteBlocks", {"blockIds": [ids[2]]}),
        **turn | {"sessionId": reply["sessionId"]},
    )
    assert [each["status"] for each in reply["toolCalls"]] == ["ok", "ok"], left
    file.write_text(file.read_text().replace("inside", "the user's, since"))
    changed = f"sessions/{reply['sessionId']}/turns/{reply['turnId']}/changes?include=blocks"
    blocks = documents.server.get(changed)["blocks"]
    assert [(each["op"], each["index"]) for each in blocks] == [("insert", 0), ("delete", 3)]
    assert blocks[1]["before"] == json.loads(FOREIGN)["root"]["children"][2:]
    event = undo(documents.server, reply)
    assert event["conflicts"] == []
    assert json.loads(file.read_text()) == json.loads(
        FOREIGN.replace("inside", "the user's, since")
    )


def test_only_the_block_that_the_user_changed_too_is_left_to_the_user(
    documents: Documents,
) -> None:
    file = documents.write("a.lexical", FOREIGN)
    path = documents("a.lexical")
    turn: Any = {"attachments": [{"kind": "file", "path": path}], "activeNotebook": path}
    ids = [each["id"] for each in documents.output("readAllBlocks", "a.lexical")["blocks"]]
    reply = documents.turn(
        Call("readAllBlocks", {}),
        Call("updateBlock", {"blockId": ids[0], "content": "Agent's title"}),
        Call("updateBlock", {"blockId": ids[2], "content": "agent's words"}),
        **turn,
    )
    file.write_text(file.read_text().replace("agent's words", "theirs and mine"))
    event = undo(documents.server, reply)
    (conflict,) = event["conflicts"]
    assert conflict["before"] == "**User's words**"
    assert (conflict["after"], conflict["now"]) == ("agent's words", "theirs and mine")
    heading, _, paragraph = documents.nodes("a.lexical")
    assert heading == json.loads(FOREIGN)["root"]["children"][0]
    assert paragraph["children"][0]["text"] == "theirs and mine"
    # Its earlier text on request; what the user changed elsewhere since stays.
    file.write_text(file.read_text().replace("inside", "the user's, since"))
    event = undo(documents.server, reply, paths=[path], overwrite=True)
    assert event["conflicts"] == []
    assert file.read_text() == FOREIGN.replace("inside", "the user's, since")


def test_edits_need_what_the_model_has_read(documents: Documents) -> None:
    file = documents.write("a.lexical", FOREIGN)
    path = documents("a.lexical")
    turn: Any = {"attachments": [{"kind": "file", "path": path}], "activeNotebook": path}
    ids = [each["id"] for each in documents.output("readAllBlocks", "a.lexical")["blocks"]]

    def user_writes(*_: Any) -> Any:
        file.write_text(FOREIGN.replace("User's words", "New words"))
        return Call("updateBlock", {"blockId": ids[2], "content": "agent's"})

    reply = documents.turn(
        user_writes,
        Call("updateBlock", {"blockId": ids[2], "content": "New words, and mine"}),
        **turn,
    )
    assert [each["status"] for each in reply["toolCalls"]] == ["error", "ok"]
    assert "New words" in json.dumps(reply["toolCalls"][0]["output"])
    assert "New words, and mine" in file.read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("hello", "not valid JSON"),
        ('{"root": {"type": "root", "children": [{"type": "a"},]}}', "not valid JSON"),
        ('{"cells": [], "nbformat": 4}', "no root"),
        ("[1, 2]", "no object"),
        ('{"root":{"type":"root","children":[' + "[" * 100_000 + "]" * 100_000 + "]}}", "nested"),
        ("x" * 50_000_000, "50,000,000 bytes"),
    ],
    ids=["empty", "text", "broken", "notebook", "list", "deep", "large"],
)
def test_what_is_no_document_is_refused_and_stays(
    documents: Documents, text: str, said: str
) -> None:
    documents.write("bad.lexical", text)
    assert said in documents.refused("readAllBlocks", "bad.lexical")["message"]
    error = documents.refused("insertBlock", "bad.lexical", content="x")
    assert said in error["message"]
    assert error["hint"]


def test_wrong_arguments_say_what_is_right(documents: Documents) -> None:
    documents.write("a.lexical", FOREIGN)
    for arguments, said in [
        ({"content": "x", "type": "table"}, "the content is no table but paragraph"),
        ({"content": "x", "position": {"after": "nope"}}, "No block with id nope"),
        ({"content": "x", "index": 9}, "past the end"),
        ({"content": "  "}, "no blocks"),
        ({}, "give content"),
        ({"node": {"type": "paragraph"}}, "no version"),
        ({"node": {"type": "text", "version": 1, "text": "x"}}, "no block"),
    ]:
        assert said in documents.refused("insertBlock", "a.lexical", **arguments)["message"]
    ids = [each["id"] for each in documents.output("readAllBlocks", "a.lexical")["blocks"]]
    assert (
        "only jupyter-input"
        in documents.refused("runBlock", "a.lexical", blockId=ids[0])["message"]
    )
    documents.output(
        "updateBlock", "a.lexical", blockId=ids[2], content="## H\n\n- b", type="markdown"
    )
    kinds = [each["type"] for each in documents.output("readAllBlocks", "a.lexical")["blocks"]]
    assert kinds == ["heading", "collapsible", "heading", "list"]
    assert "no code" in documents.refused("runAllBlocks", "a.lexical")["message"]
    types = documents.output("listAvailableBlocks", "a.lexical")["types"]
    assert {"jupyter-input", "table", "equation"} <= {each["type"] for each in types}


def test_tools_for_blocks_are_sent_where_a_document_is_at_hand_and_stay(
    documents: Documents,
) -> None:
    documents.write("a.lexical", FOREIGN)
    path = documents("a.lexical")
    attached: Any = {"attachments": [{"kind": "file", "path": path}]}
    active: Any = {**attached, "activeNotebook": path}
    session = documents.turn()["sessionId"]
    documents.turn(sessionId=session, **attached)
    documents.turn(sessionId=session, mode="ask", **active)
    documents.turn(sessionId=session, **active)
    documents.turn(sessionId=session)
    sent = [
        [tool["function"]["name"] for tool in request.body["tools"]]
        for request in documents.model.requests[-5:]
    ]
    blocks = [[each for each in names if "Block" in each] for names in sent]
    reads = ["readBlock", "readAllBlocks", "listAvailableBlocks"]
    assert blocks[0] == blocks[1] == []
    assert blocks[2] == reads
    assert len(blocks[3]) == 9
    assert sent[3][: len(sent[1])] == sent[1], "what comes before them is as it was"
    assert sent[4] == sent[3], "the list of tools changes once"
    context = json.dumps(documents.model.requests[-2].body["messages"])
    assert "Lexical document" in context
    assert "Block types: markdown" in context


def test_the_gate_is_that_of_notebooks_and_deleting_asks(documents: Documents) -> None:
    file = documents.write("a.lexical", FOREIGN)
    path = documents("a.lexical")
    ids = [each["id"] for each in documents.output("readAllBlocks", "a.lexical")["blocks"]]
    attached: Any = {"attachments": [{"kind": "file", "path": path}]}
    active: Any = {**attached, "activeNotebook": path}
    insert = Call("insertBlock", {"content": "x"})
    for more, said in [
        ({"activeNotebook": path}, "No active Lexical document"),
        (attached, "No active Lexical document"),
        ({**active, "mode": "ask"}, "only Agent mode"),
    ]:
        (call,) = documents.turn(insert, **more)["toolCalls"]
        assert said in json.dumps(call["output"])
    reply = documents.turn(
        Call("readAllBlocks", {}),
        Call("deleteBlocks", {"blockIds": ids[:1]}),
        **{**active, "approval": "destructive"},
    )
    assert [each["status"] for each in reply["toolCalls"]] == ["ok", "denied"]
    assert file.read_text() == FOREIGN


def test_a_document_is_made_and_filled_in_one_turn_and_taken_back(documents: Documents) -> None:
    reply = documents.turn(
        Call("createLexical", {"name": documents("new")}),
        Call("insertBlocks", {"blocks": [{"content": "# A\n\nB"}]}),
        Call("executeCode", {"code": "1 + 1"}),
        Call("selectKernel", {"kernelName": "python3"}),
    )
    assert [each["status"] for each in reply["toolCalls"]] == ["ok"] * 4
    assert [each["type"] for each in documents.nodes("new.dlex")] == ["heading", "paragraph"]
    undo(documents.server, reply)
    assert not (documents.folder / "new.dlex").exists()


def test_a_kernel_that_ends_is_reported_and_what_stood_there_stays(documents: Documents) -> None:
    documents.output("createLexical", name=documents("k"))
    made = documents.output(
        "insertBlocks",
        "k.dlex",
        blocks=[
            {"type": "jupyter-input", "content": "print(1)"},
            {"type": "jupyter-input", "content": "import os; os.kill(os.getpid(), 9)"},
            {"type": "jupyter-input", "content": "print(3)"},
        ],
    )["blocks"]
    documents.output("runBlock", "k.dlex", blockId=made[0]["id"])
    before = documents.nodes("k.dlex")
    ran = documents.refused("runAllBlocks", "k.dlex")
    assert ran["code"] == "kernel_error"
    assert "Dead" in ran["message"] or "died" in ran["message"]
    assert documents.nodes("k.dlex") == before


def test_after_a_kernel_died_a_run_says_which_blocks_have_to_run_again(
    documents: Documents,
) -> None:
    documents.output("createLexical", name=documents("lost"))
    codes = ["x = 41", "import os; os.kill(os.getpid(), 9)", "x + 1"]
    blocks = [{"type": "jupyter-input", "content": each} for each in codes]
    made = documents.output("insertBlocks", "lost.dlex", blocks=blocks)["blocks"]
    first, second, third = (each["id"] for each in made)
    documents.output("runBlock", "lost.dlex", blockId=first)
    died = documents.call("runBlock", "lost.dlex", blockId=second)
    later = documents.call("runBlock", "lost.dlex", blockId=third)
    assert "Block 2" in died["error"]["message"]
    assert "All variables are gone. Run block 1 again" in died["error"]["hint"]
    assert "the fault of the block" in died["error"]["hint"]
    assert died["output"]["runAgain"] == later["output"]["runAgain"] == [first]
    assert "Block 1 has not run since" in later["error"]["hint"]
    assert "Fix this block" not in later["error"]["hint"]
    documents.output("runBlock", "lost.dlex", blockIds=[first, third])
    assert documents.output("readBlock", "lost.dlex", blockId=third)["outputs"] == "42"


def test_byte_order_mark_and_line_ends_stay(documents: Documents) -> None:
    """As an editor of Windows saves it."""
    file = documents.folder / "w.lexical"
    before = b"\xef\xbb\xbf" + FOREIGN.replace("\n", "\r\n").encode()
    file.write_bytes(before)
    ids = [each["id"] for each in documents.output("readAllBlocks", "w.lexical")["blocks"]]
    documents.output("updateBlock", "w.lexical", blockId=ids[2], content="Other words")
    after = file.read_bytes()
    head = before.partition(b'\r\n  {"version":1,"type":"paragraph"')[0]
    assert after.startswith(head)
    assert b"Other words" in after
    assert after.count(b"\r\n") == after.count(b"\n")


def test_blocks_take_edits_and_run_as_cells_do(documents: Documents) -> None:
    documents.write("a.lexical", FOREIGN)
    made = documents.output(
        "insertBlock", "a.lexical", type="jupyter-input", content="a = 6\na * 7", run=True
    )
    [run] = made["runs"]
    assert (run["status"], run["outputs"]) == ("ok", "42")
    edits = [{"oldString": "a = 6", "newString": "a = 5"}]
    done = documents.output("updateBlock", "a.lexical", blockId=run["id"], edits=edits, run=True)
    assert done["runs"][0]["outputs"] == "35"
    error = documents.refused("updateBlock", "a.lexical", blockId=run["id"], edits=edits)
    assert "does not occur" in error["message"]
    both = documents.refused("runBlock", "a.lexical")
    assert "blockId" in both["message"]
    # A block that fails is there, and is reported as failed.
    failed = documents.call(
        "insertBlock", "a.lexical", type="jupyter-input", content="1 / 0", run=True
    )
    assert failed["error"]["code"] == "kernel_error"
    assert failed["changes"]
    assert documents.nodes("a.lexical")[-2]["type"] == "jupyter-input"


def test_outputs_say_whose_run_made_them(documents: Documents) -> None:
    documents.output("createLexical", name=documents("marks.dlex"))
    acts = "from IPython.display import HTML; HTML('<i onclick=x>y</i>')"
    made = documents.output(
        "insertBlock", "marks.dlex", type="jupyter-input", content=acts, position="start"
    )
    block = made["blocks"][0]["id"]

    def marks() -> list[Any]:
        outputs = [each for each in documents.nodes("marks.dlex") if "outputs" in str(each)]
        return [str(each).count("madeBy") for each in outputs]

    # A program's token is no user: it may be an agent's.
    documents.output("runBlock", "marks.dlex", blockId=block)
    assert marks() == [1]
    with FakePage(documents.server):
        documents.output("runBlock", "marks.dlex", blockId=block)
    assert marks() == [0]
    documents.turn(Call("runBlock", {"blockId": block}), **documents.at_hand("marks.dlex"))
    assert marks() == [1]

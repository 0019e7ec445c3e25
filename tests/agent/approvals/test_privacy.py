"""What may go to the model, by what the model's server received."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer
from tests.support.planning import add, of_type, plan_of, submit, until
from tests.tools.test_outputs import png

END = ("turn_completed", "turn_aborted")
PRINTED, TABLED, RAISED, IN_FILE = "tulip-7319", "crocus-2214", "violet-5520", "aster-9917"
PICTURE = png(19, 23)
CELLS = {
    "prints": f'print("{PRINTED[::-1]}"[::-1])',
    "table": f'import pandas as pd\npd.DataFrame({{"name": ["{TABLED[::-1]}"[::-1]] * 3, "n": 1}})',
    "shown": f'print(pd.DataFrame({{"name": ["{TABLED[::-1]}"[::-1]] * 3, "n": 1}}))',
    "picture": "from pathlib import Path\nfrom IPython.display import Image\n"
    'Image(Path("dot.png").read_bytes())',
    "raises": f'raise ValueError("{RAISED[::-1]}"[::-1])',
}
READ_ALL: list[Any] = [
    Call("runNotebookCells", {"all": True, "stopOnError": False}),
    Calls(
        [Call("getNotebookCells", {"includeOutputs": True}),
         *(Call("getCellOutputs", {"cellId": each}) for each in CELLS)]
    ),
    Call("executeCode", {"code": CELLS["prints"]}),
    Call("executeCode", {"code": CELLS["raises"]}),
    Call("executeCode", {"code": CELLS["picture"]}),
    add(CELLS["raises"]),
]  # fmt: skip


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    with RunningServer(folder, api_base=shared_model.base_url) as running:
        yield running


@pytest.fixture(autouse=True)
def _notebook(server: RunningServer) -> None:
    write_notebook(server.root)


def write_notebook(root: Path) -> None:
    (root / "dot.png").write_bytes(base64.b64decode(PICTURE))
    (root / "people.csv").write_text(f"name,age\n{IN_FILE},31\nBob,33\n")
    cells = [nbformat.v4.new_code_cell(source, id=name) for name, source in CELLS.items()]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})
    nbformat.write(notebook, root / "secret.ipynb")


def request(message: str, **more: Any) -> dict[str, Any]:
    return {
        "message": message,
        "mode": "agent",
        "activeNotebook": "secret.ipynb",
        "attachments": [{"kind": "notebook", "path": "secret.ipynb"}],
        "location": "panel",
        "approval": "never",
        **more,
    }


def begin(server: RunningServer, **settings: str) -> str:
    return str(server.post("sessions", {"settings": settings})["id"])


def chat(server: RunningServer, session: str, message: str, **more: Any) -> Any:
    return server.post("chat", {"sessionId": session, **request(message, **more)})


def received(model: ScriptedModelServer) -> str:
    """Every byte of every request so far."""
    return "\n".join(json.dumps(each.body, ensure_ascii=False) for each in model.requests)


def assert_kept_from(model: ScriptedModelServer, *secrets: str) -> None:
    text = received(model)
    for secret in secrets:
        assert secret not in text, secret
    assert "datalayerPrivate" not in text


def test_by_default_outputs_and_rows_go_to_the_model(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(*READ_ALL, Say("Done."))
    files = [*request("")["attachments"], {"kind": "file", "path": "people.csv"}]
    chat(server, begin(server), "Look", attachments=files)
    text = received(model)
    for secret in (PRINTED, TABLED, RAISED, PICTURE, IN_FILE):
        assert secret in text, secret
    assert "datalayerPrivate" not in text


def test_with_outputs_never_no_value_reaches_the_model_in_any_way(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    secrets = (PRINTED, TABLED, RAISED, PICTURE)
    session = begin(server, outputs="never")
    model.script(*READ_ALL, Say("Done."), Say("Again."))
    reply = chat(server, session, "Look")
    assert reply["status"] == "completed", reply["reply"]
    chat(server, session, "And now?")  # the history of a later turn

    outputs = "\n".join(model.requests[-1].tool_outputs.values())
    assert "withheld by the setting" in outputs
    assert "[output of 10 characters withheld by the setting]" in outputs
    assert "[picture 19x23 withheld by the setting]" in outputs
    assert "ValueError in line 1, its message and traceback withheld by the setting" in outputs
    assert "failed: ValueError: [its message withheld by the setting]" in outputs

    # The user has all of it.
    turn = server.get(f"sessions/{session}/turns", include="events")["turns"][0]
    kept = json.dumps(turn["toolCalls"])
    shown = json.dumps(of_type(turn["events"], "tool_call_output"))
    for secret in (PRINTED, TABLED, RAISED):
        assert secret in kept
        assert secret in shown
        assert secret not in json.dumps(turn["items"])
    withheld = [e.get("withheld") for e in of_type(turn["events"], "tool_call_output")]
    assert withheld[0] == ["outputs"]

    # A plan, a step that fails, its repair, and what is said of it in the end.
    model.script(plan_of("Raise it"), add(CELLS["raises"]), add(CELLS["raises"]), Say("No."))
    reply = chat(server, session, "agent: raise it")
    assert "ValueError" in received(model)
    assert RAISED not in reply["reply"]
    # A summary, and what is shown before a message is sent.
    model.script(Say("A summary."), Say("Fine."))
    submit(server, session, {"type": "compact"})
    until(server.stream(f"sessions/{session}/events"), "context_compacted")
    chat(server, session, "Go on")
    preview = server.get("context", sessionId=session, path="secret.ipynb", mode="agent")
    for secret in secrets:
        assert secret not in json.dumps(preview)
    assert_kept_from(model, *secrets)


def test_an_error_fix_sends_the_model_nothing_of_the_errors_message(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = begin(server, outputs="never")
    model.script(
        plan_of("Load", "Look"), add("import pandas as pd"), Say("Loaded."),
        add(f"frame = pd.DataFrame({{'{RAISED[::-1]}'[::-1]: [1]}})\nframe['violet-552']"),
        Say("I cannot."), Say("I cannot."),
    )  # fmt: skip
    chat(server, session, "agent: look")
    assert "KeyError" in received(model)
    assert "a known fix for this kind of error" in received(model)
    assert_kept_from(model, RAISED)


def test_with_row_data_never_only_what_looks_like_rows_is_withheld(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = begin(server, rowData="never")
    model.script(*READ_ALL, Say("Done."))
    files = [*request("")["attachments"], {"kind": "file", "path": "people.csv"}]
    chat(server, session, "Look", attachments=files)
    assert_kept_from(model, TABLED, IN_FILE)
    text = received(model)
    for shared in (PRINTED, RAISED, PICTURE):
        assert shared in text
    assert "[table of " in text
    assert "[3 lines of data withheld by the setting]" in text
    preview = server.get("context", sessionId=session, path="people.csv", mode="agent")
    assert IN_FILE not in preview["text"]


# Each with the value that must not leave, under a name that says nothing of it.
FILES = {
    "iris.data": f"5.1,3.5,{IN_FILE}\n4.9,3.0,{IN_FILE}\n4.7,3.2,{IN_FILE}\n",
    "people.csv.bak": f"name,age\n{IN_FILE},31\nBob,33\n",
    "notes.md": f"name,age\n{IN_FILE},31\nBob,33\n",
    "dump.sql": f"INSERT INTO p VALUES ('{IN_FILE}', 1), ('b', 2), ('c', 3);\n",
    "page.html": f"<table><tr><td>{IN_FILE}</td><td>1</td></tr>" + "<tr><td>b</td></tr>" * 3,
    "people.yaml": f"- name: {IN_FILE}\n  age: 1\n" + "- name: b\n  age: 2\n" * 2,
    "old.bak": json.dumps(
        nbformat.v4.new_notebook(
            cells=[
                nbformat.v4.new_code_cell(
                    "1", outputs=[nbformat.v4.new_output("stream", text=f"{IN_FILE}\n")]
                )
            ]
        ),
        indent=1,
    ),
}


def test_data_is_withheld_under_every_name_and_in_each_way_that_a_file_is_sent(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    for name, content in FILES.items():
        (server.root / name).write_text(content)
    session = begin(server, rowData="never", outputs="never")
    model.script(
        Calls([Call("readFile", {"path": each}) for each in FILES]),
        Calls([
            Call("readFile", {"path": name, "startLine": line, "limit": 1})
            for name, content in FILES.items()
            for line in range(1, 1 + min(2, content.count("\n")))
        ]),
        # What is most like the text that does not occur is in the answer, and so is the whole file.
        Calls([Call("editFile", {"path": each, "edits": [
            {"oldString": f"{IN_FILE[:-1]}x", "newString": ""}]}) for each in FILES]),
        Calls([Call("writeFile", {"path": each, "content": "x"}) for each in FILES]),
        Say("Done."),
    )  # fmt: skip
    files = [{"kind": "file", "path": each} for each in FILES]
    chat(server, session, "Look", attachments=[*request("")["attachments"], *files])
    assert_kept_from(model, IN_FILE)
    assert received(model).count("lines of data withheld by the setting") >= len(FILES)
    assert "lines of a notebook withheld by the setting" in received(model)


def test_never_holds_for_what_was_sent_before_and_at_once(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = begin(server)
    model.script(*READ_ALL, Say("Done."), Say("Again."))
    chat(server, session, "Look")
    assert PRINTED in received(model)
    sent = len(model.requests)
    server.request("PATCH", f"sessions/{session}", json={"settings": {"outputs": "never"}})
    chat(server, session, "And now?")
    later = json.dumps([each.body for each in model.requests[sent:]])
    for secret in (PRINTED, TABLED, RAISED, PICTURE):
        assert secret not in later
    assert "withheld by the setting" in later


def decide(
    server: RunningServer, session: str, decisions: list[str], **end: Any
) -> list[dict[str, Any]]:
    """Answer the approvals as they come, and give the events of the turn."""
    seen = []
    answers = iter(decisions)
    for event in server.stream(f"sessions/{session}/events"):
        seen.append(event)
        if event["type"] == "approval_requested":
            answer = {"approvalId": event["approvalId"], "decision": next(answers)}
            submit(server, session, {"type": "approval_decision", **answer})
        if event["type"] in END:
            return seen
    raise AssertionError(seen)


def ask(server: RunningServer, session: str, message: str, **more: Any) -> None:
    submit(server, session, {"type": "user_message", "request": request(message, **more)})


def test_ask_shows_what_would_be_sent_and_sends_it_when_the_user_agrees(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = begin(server, outputs="ask")
    model.script(
        Call("executeCode", {"code": CELLS["prints"]}),
        Call("executeCode", {"code": CELLS["raises"]}),
        Calls([Call("executeCode", {"code": CELLS["picture"]})] * 2),
        Say("Done."),
    )
    ask(server, session, "Look")
    seen = decide(server, session, ["deny", "approve", "approve_for_session"])
    first, second, third = of_type(seen, "approval_requested")
    assert first["share"]["kinds"] == ["outputs"]
    assert PRINTED in first["share"]["text"]
    assert "withheld by the user" in first["share"]["withheld"]
    assert first["reason"].startswith("The outputs of this executeCode are about to be sent")
    assert not second["share"]["ok"]
    assert RAISED in second["share"]["text"]
    assert third["share"]["pictures"] == 1
    text = received(model)
    assert PRINTED not in text
    assert "[output of 10 characters withheld by the user]" in text
    assert RAISED in text
    assert PICTURE in text
    outputs = of_type(seen, "tool_call_output")
    assert [each.get("withheld") for each in outputs] == [["outputs"], None, None, None]


def test_where_nobody_can_be_asked_what_would_be_asked_about_is_withheld(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(*READ_ALL, Say("Done."))
    reply = chat(server, begin(server, outputs="ask"), "Look")
    assert reply["status"] == "completed"
    assert_kept_from(model, PRINTED, TABLED, RAISED, PICTURE)


def test_rows_of_a_file_in_the_context_are_asked_about_before_the_turn_begins(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = begin(server, rowData="ask")
    files = [{"kind": "file", "path": "people.csv"}]
    model.script(Say("No rows."))
    preview = server.get("context", sessionId=session, path="people.csv", mode="agent")
    assert "[3 lines of data withheld until you approve]" in preview["text"]
    ask(server, session, "Look", attachments=files, activeNotebook=None)
    seen = decide(server, session, ["deny"])
    [asked] = of_type(seen, "approval_requested")
    assert IN_FILE in asked["share"]["text"]
    assert seen[-1]["type"] == "turn_completed"
    assert_kept_from(model, IN_FILE)


@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_a_call_whose_output_waited_over_a_restart_is_not_made_again(
    server: RunningServer, model: ScriptedModelServer, decision: str
) -> None:
    session = begin(server, outputs="ask")
    (server.root / "ran").unlink(missing_ok=True)
    code = f"open('ran', 'a').write('once ')\n{CELLS['prints']}"
    model.script(Call("executeCode", {"code": code}), Say("Done."))
    ask(server, session, "Look")
    asked = until(server.stream(f"sessions/{session}/events"), "approval_requested")[-1]
    server.kill()
    server.start()
    answer = {"approvalId": asked["approvalId"], "decision": decision}
    server.get(f"sessions/{session}/turns")
    submit(server, session, {"type": "approval_decision", **answer})
    seen = until(server.stream(f"sessions/{session}/events"), *END)
    assert seen[-1]["type"] == "turn_completed"
    assert (server.root / "ran").read_text() == "once "
    assert len(of_type(seen, "approval_requested")) == 1
    [output] = of_type(seen, "tool_call_output")
    assert PRINTED in output["output"]
    assert (PRINTED in received(model)) == (decision == "approve")


@pytest.mark.parametrize("policy", ["always", "never"])
def test_sample_rows_of_data_sets_are_rows_of_data(
    server: RunningServer, model: ScriptedModelServer, policy: str
) -> None:
    session = begin(server, rowData=policy)
    file = {"file": ("people.csv", f"name,age\n{IN_FILE},31\nBob,33\n".encode())}
    uploaded = server.request("POST", "upload", files=file, data={"sessionId": session})
    assert uploaded.ok, uploaded.text
    model.script(Call("listDatasets"), Say("People, two rows."))
    chat(server, session, "Which data sets are there?", attachments=[], activeNotebook=None)
    listed = json.loads(model.requests[-1].last_output)["datasets"][0]
    assert (listed["rows"], list(listed["columns"])) == (2, ["name", "age"])
    if policy == "always":
        assert listed["sample"][0] == {"name": IN_FILE, "age": 31}
    else:
        assert listed["sample"] == "[2 sample rows withheld by the setting]"
        assert_kept_from(model, IN_FILE)

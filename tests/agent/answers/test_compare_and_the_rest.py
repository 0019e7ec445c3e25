"""A comparison and other parts: asking before something is sent, metrics, the history tools."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.jupyter import RunningServer
from tests.support.model_server import Answer, Call, Say, ScriptedModelServer, TokenCounts
from tests.support.page import submit_in_page
from tests.support.sessions import act

from .comparing import A, B, compare, events_until, newest, requests_of, script

READ = Call("getNotebookCells", {"includeOutputs": True})
ATTACHED = {
    "attachments": [
        {"kind": "notebook", "path": "secret.ipynb"},
        {"kind": "output", "path": "secret.ipynb", "cellId": "c0"},
    ],
    "activeNotebook": "secret.ipynb",
}


def write_secret(path: Path) -> None:
    cell = nbformat.v4.new_code_cell("6 * 7", id="c0", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("stream", text="tulip-7319")]
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)


def test_the_context_is_asked_about_once_also_over_a_crash_and_the_tools_do_not_ask(
    tmp_path: Path, shared_model: ScriptedModelServer
) -> None:
    model = shared_model
    model.reset()
    with RunningServer(tmp_path, api_base=model.base_url) as server:
        write_secret(server.root / "secret.ipynb")
        session = server.post("sessions", {"settings": {"outputs": "ask"}})["id"]
        request = {"message": "What came out?", "compare": [A, B], **ATTACHED}
        op = {"type": "user_message", "request": request}
        asked = act(server, session, op, "approval_requested")
        assert "outputs" in asked["reason"]
        assert model.requests == []
        server.kill()
        server.start()
        assert newest(server, session)["status"] == "running", "it waits on"
        script(model, alpha=[READ, Say("Seen.")], beta=[Say("Not looked.")])
        last = server.get(f"sessions/{session}")["lastSeq"]
        decision = {"approvalId": asked["approvalId"], "decision": "approve"}
        submit_in_page(server, session, {"type": "approval_decision", **decision})
        events = events_until(server, session, last, "turn_completed")
        assert [e for e in events if e["type"] == "approval_requested"] == []
        assert all("tulip-7319" in requests_of(model, each)[0].text for each in (A, B))
        (output,) = requests_of(model, A)[1].tool_outputs.values()
        assert "tulip-7319" not in output
        assert "cannot ask" in output
        turn = newest(server, session)
        assert {a["model"]: a["text"] for a in turn["answers"]} == {A: "Seen.", B: "Not looked."}
        assert turn["compare"] == [A, B]


@pytest.mark.parametrize("policy", ["never", "always"])
def test_what_may_be_sent_holds_for_what_each_model_reads(
    server: RunningServer, model: ScriptedModelServer, policy: str
) -> None:
    write_secret(server.root / "secret.ipynb")
    session = server.post("sessions", {"settings": {"outputs": policy}})["id"]
    script(model, alpha=[READ, Say("One.")], beta=[READ, Say("Two.")])
    compare(server, A, B, sessionId=session, **ATTACHED)
    for each in (A, B):
        (output,) = requests_of(model, each)[1].tool_outputs.values()
        assert ("tulip-7319" in output) == (policy == "always")
        assert ("tulip-7319" in requests_of(model, each)[0].text) == (policy == "always")


def test_the_limit_of_tool_calls_holds_for_each_answer_which_is_then_given_without_tools(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_secret(server.root / "secret.ipynb")
    script(model, alpha=[READ, READ, READ, Say("Enough.")], beta=[Say("Two.")])
    reply = compare(server, A, B, overrides={"maxToolCalls": 2}, **ATTACHED)
    answers = {each["model"]: each for each in reply["answers"]}
    assert answers[A]["text"] == "Enough."
    assert [r.body.get("tool_choice") for r in requests_of(model, A)] == [
        None,
        None,
        "none",
        "none",
    ]
    assert [call["status"] for call in answers[A]["toolCalls"]] == ["ok", "ok", "aborted"]


def test_the_model_reads_in_the_history_what_all_of_them_answered(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    script(model, alpha=Say("Blue, says alpha."), beta=Say("Red, says beta."))
    reply = compare(server, A, B)
    script(model, alpha=[Call("getTurnById", {"turnId": reply["turnId"]}), Say("Both.")])
    server.post("chat", {"message": "Who said what?", "sessionId": reply["sessionId"], "model": A})
    (output,) = model.requests[-1].tool_outputs.values()
    assert "Blue, says alpha." in output
    assert "Red, says beta." in output
    assert B in output


def test_metrics_count_tokens_and_tool_calls_by_model(tmp_path: Path) -> None:
    with (
        ScriptedModelServer() as model,
        RunningServer(
            tmp_path,
            api_base=model.base_url,
            environment={"DATALAYER_AGENT_METRICS": "true", "DEEPSEEK_API_KEY": "a-key"},
        ) as server,
    ):
        write_secret(server.root / "secret.ipynb")
        scripted, flash = "openai/scripted", "deepseek/deepseek-v4-flash"
        uncounted = "deepseek/deepseek-v4-pro"
        called = Answer([READ], usage=TokenCounts(100, 10))
        one = [called, Answer([Say("One.")], usage=TokenCounts(200, 20))]
        two = Answer([Say("Two.")], usage=TokenCounts(50, 5))
        free = Answer([Say("Four.")], counted=False)
        script(model, **{"scripted": one, "deepseek-v4-flash": two, "deepseek-v4-pro": free})
        reply = compare(server, scripted, flash, uncounted, **ATTACHED)
        assert reply["unanswered"] == []
        usage = {each["model"]: each["usage"] for each in reply["answers"]}
        assert [usage[each]["estimated"] for each in (scripted, flash, uncounted)] == [
            False, False, True
        ]  # fmt: skip
        estimate = usage[uncounted]["totalTokens"]
        # Names that the server does not list count together.
        op = {"type": "ask_again", "turnId": reply["turnId"], "model": A}
        script(model, alpha=[called, Answer([Say("Three.")], usage=TokenCounts(7, 3))])
        act(server, reply["sessionId"], op, "answer_finished")
        text = server.request("GET", "/metrics").text
    samples = {
        (sample.name.removeprefix("datalayer_agent_"), *sorted(sample.labels.values())): (
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    tokens = {
        each: sum(v for key, v in samples.items() if key[0] == "tokens_total" and each in key)
        for each in (scripted, flash, uncounted, "other")
    }
    assert tokens == {scripted: 330, flash: 55, uncounted: estimate, "other": 120}
    assert samples["tool_calls_total", "getNotebookCells", "ok"] == 2
    assert samples[("running_turns",)] == 0, "an answer after the turn's end leaves none open"


def test_a_model_that_calls_on_without_tools_ends_with_an_error(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_secret(server.root / "secret.ipynb")
    script(model, alpha=[READ] * 9, beta=[Say("Two.")])
    reply = compare(server, A, B, overrides={"maxToolCalls": 1}, **ATTACHED)
    (failed,) = reply["unanswered"]
    assert (failed["model"], failed["code"]) == (A, "model_error")
    assert "1 tool call" in failed["message"]
    assert len(requests_of(model, A)) == 3

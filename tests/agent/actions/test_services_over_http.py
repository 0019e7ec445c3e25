"""Services over HTTP: from a message to a proposal, from its form to a result."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest

from jupyter_datalayer_agent.services.registry import PANEL_COMMANDS
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer, Status
from tests.support.planning import of_type, submit, until


@pytest.fixture(autouse=True)
def notebook(server: RunningServer) -> str:
    cells = [nbformat.v4.new_code_cell("1 + 1", id="one")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), server.root / "cars.ipynb")
    for each in server.root.glob("cars.*"):
        if each.suffix in (".html", ".md", ".py"):
            each.unlink()
    return "cars.ipynb"


def events_of(server: RunningServer, session: str, **message: Any) -> list[dict[str, Any]]:
    last = server.get(f"sessions/{session}")["lastSeq"]
    request = {"activeNotebook": "cars.ipynb", "location": "panel", **message}
    submit(server, session, {"type": "user_message", "request": request})
    stream = server.stream(f"sessions/{session}/events?after={last}")
    return until(stream, "turn_completed", "turn_aborted")


def new_session(server: RunningServer) -> str:
    return str(server.post("sessions", {})["id"])


def export(sources: dict[str, str] | None = None, **parameters: Any) -> Call:
    """The model proposes to export the notebook."""
    given = {"service": "notebook", "action": "export", "parameters": parameters}
    return Call("proposeAction", {**given, "sources": sources or {}})


def test_a_command_becomes_a_proposal_and_its_form_is_run(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = new_session(server)
    said = {"format": "web page", "target": "to my desk"}
    model.script(export(said, format="html", target="cars.html"))
    events = events_of(server, session, message="/notebook export this as a web page")
    (intent,) = of_type(events, "intent_detected")
    assert (intent["service"], intent["subcommand"], intent["how"]) == (
        "notebook",
        "export",
        "command",
    )
    (proposal,) = of_type(events, "action_proposed")
    assert proposal["complete"] is True
    known = {each["name"]: each for each in proposal["parameters"]}
    assert known["format"]["display"] == "HTML"
    assert known["format"]["source"] == "web page"
    # These are no words of the message.
    assert known["target"].get("source") is None
    assert known["notebook"]["value"] == "cars.ipynb"
    assert known["notebook"]["source"] == "the active notebook"
    (request,) = model.requests
    assert request.tool_names == ["proposeAction"]
    assert not (server.root / "cars.html").exists()

    last = server.get(f"sessions/{session}")["lastSeq"]
    assert known["target"]["required"] is False
    values = {name: each["value"] for name, each in known.items() if each["found"]}
    submit(
        server,
        session,
        {"type": "run_action", "proposalId": proposal["proposalId"], "parameters": values},
    )
    ran = until(server.stream(f"sessions/{session}/events?after={last}"), "turn_completed")
    (finished,) = of_type(ran, "action_finished")
    assert finished["status"] == "ok"
    assert finished["paths"] == ["cars.html"]
    assert "<html" in (server.root / "cars.html").read_text()
    assert of_type(ran, "action_progress")[0]["message"] == "Exporting to HTML"


def test_what_an_action_does_not_take_goes_back_to_the_model(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        export(format="docx"),
        export(colour="red"),
        Call("proposeAction", {"service": "notebook", "action": "print"}),
        export(format="slides"),
    )
    events = events_of(server, new_session(server), message="/notebook export it please")
    assert "'docx' is not one of the choices" in model.requests[1].last_output
    assert "no parameter 'colour'" in model.requests[2].last_output
    assert "no action 'print'" in model.requests[3].last_output
    (proposal,) = of_type(events, "action_proposed")
    known = {each["name"]: each["value"] for each in proposal["parameters"] if each["found"]}
    assert known == {"notebook": "cars.ipynb", "format": "slides"}


def test_a_reply_refines_the_proposal(server: RunningServer, model: ScriptedModelServer) -> None:
    session = new_session(server)
    model.script(export(format="html", target="a.html"), export(format="markdown", target="a.md"))
    first = events_of(server, session, message="/notebook export to HTML as a.html")
    second = events_of(server, session, message="no, to Markdown")
    (before,) = of_type(first, "action_proposed")
    (after,) = of_type(second, "action_proposed")
    assert after["proposalId"] == before["proposalId"]
    known = {each["name"]: each["value"] for each in after["parameters"] if each["found"]}
    assert known == {"notebook": "cars.ipynb", "format": "markdown", "target": "a.md"}
    assert len(model.requests) == 2
    assert "Nothing has been done yet." in model.requests[1].text


@pytest.mark.parametrize("location", ["panel", "api"])
def test_what_a_reply_does_not_change_stays_as_it_was_proposed(
    server: RunningServer, model: ScriptedModelServer, location: str
) -> None:
    session = new_session(server)
    model.script(export(format="html"), export(target="other.html"))
    events_of(server, session, message="/notebook export to HTML", location=location)
    events = events_of(server, session, message="write it to other.html", location=location)
    (after,) = of_type(events, "action_proposed")
    known = {each["name"]: each["value"] for each in after["parameters"] if each["found"]}
    assert known == {"notebook": "cars.ipynb", "format": "html", "target": "other.html"}


def test_what_follows_a_proposal_and_is_about_something_else_is_an_ordinary_message(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = new_session(server)
    model.script(export(format="html"), Say("It adds."))
    events_of(server, session, message="/notebook export to HTML")
    events = events_of(server, session, message="What does the first cell do?")
    assert of_type(events, "action_proposed", "intent_detected") == []
    assert of_type(events, "final_reply")[0]["text"] == "It adds."
    assert len(model.requests) == 2


def test_the_model_finds_and_proposes_an_action_for_a_message_without_a_command(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("findActions", {"query": "export notebook HTML"}), export(format="html"))
    message = "Mach aus diesem Notebook eine Webseite"
    events = events_of(server, new_session(server), message=message)
    first, second = model.requests
    assert {"findActions", "proposeAction"} <= set(first.tool_names)
    found = json.loads(second.last_output)["actions"]
    assert 1 <= len(found) <= 8
    [action] = [e for e in found if (e["service"], e["action"]) == ("notebook", "export")]
    assert action["parameters"]["format"]["type"] == "string"
    (intent,) = of_type(events, "intent_detected")
    assert (intent["service"], intent["how"]) == ("notebook", "model")
    (proposal,) = of_type(events, "action_proposed")
    assert proposal["complete"] is True
    assert "Nothing has been done yet." in of_type(events, "final_reply")[0]["text"]
    assert not (server.root / "cars.html").exists()


@pytest.mark.parametrize(
    "more",
    [{"location": "api"}, {"intent": {}}],
    ids=["where no page shows a form", "where the user wants an ordinary answer"],
)
def test_actions_are_not_offered(
    server: RunningServer, model: ScriptedModelServer, more: dict[str, Any]
) -> None:
    model.script(Say("I would write HTML."))
    events_of(server, new_session(server), message="Export this notebook as HTML", **more)
    assert not {"findActions", "proposeAction"} & set(model.requests[0].tool_names)


def test_a_message_that_the_user_corrects_is_no_reply_to_its_proposal(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = new_session(server)
    message = "Export this notebook as HTML"
    model.script(export(format="html"), Say("I would write HTML."))
    assert of_type(events_of(server, session, message=message), "action_proposed")
    events = events_of(server, session, message=message, intent={})
    assert of_type(events, "intent_detected", "action_proposed") == []
    assert len(model.requests) == 2


def test_the_user_may_choose_that_a_message_is_an_ordinary_one(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("I would write HTML."))
    events = events_of(
        server, new_session(server), message="Export this notebook as HTML", intent={}
    )
    assert of_type(events, "intent_detected", "action_proposed") == []


@pytest.mark.parametrize(
    "message",
    ["What does this notebook do?", "Plot mpg against weight", "Fix the error in cell 2", "/2"],
)
def test_ordinary_messages_cost_no_further_request(
    server: RunningServer, model: ScriptedModelServer, message: str
) -> None:
    model.script(Say("Well."))
    events = events_of(server, new_session(server), message=message)
    assert of_type(events, "intent_detected") == []
    assert len(model.requests) == 1


def test_an_unknown_command_is_answered_with_the_nearest(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    events = events_of(server, new_session(server), message="/notebok export")
    reply = of_type(events, "final_reply")[0]["text"]
    assert "`/notebook`" in reply
    (unknown,) = of_type(events, "command_unknown")
    assert (unknown["command"], unknown["nearest"]) == ("notebok", ["notebook"])
    assert model.requests == []


def test_help_lists_the_services_with_examples(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    events = events_of(server, new_session(server), message="/help")
    (shown,) = of_type(events, "help_shown")
    assert {each["id"] for each in shown["services"]} >= {"notebook"}
    assert all(each["topics"] for each in shown["services"])


def test_help_in_a_cells_chat_is_text(server: RunningServer, model: ScriptedModelServer) -> None:
    events = events_of(server, new_session(server), message="/help data", location="inline")
    assert of_type(events, "help_shown") == []
    assert "Convert a data file" in of_type(events, "final_reply")[0]["text"]


def test_learn_answers_from_the_config_alone(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("By LaTeX [3], or by magic [99]. See [1](there)."))
    events = events_of(server, new_session(server), message="/notebook how is a PDF made?")
    (request,) = model.requests
    assert "[3] PDF: A PDF is made by LaTeX" in request.text
    # Where it is from is said by name, and what is from nowhere has no number.
    assert of_type(events, "final_reply")[0]["text"] == (
        "By LaTeX [3], or by magic. See [1](there).\n\n- [3] Notebook, PDF"
    )


def test_an_answer_that_names_no_source_is_followed_by_what_is_known(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("By magic."))
    events = events_of(server, new_session(server), message="/notebook how is a PDF made?")
    text = of_type(events, "final_reply")[0]["text"]
    assert text.startswith("By magic.\n\n*The model named no source. What Notebook knows:*")
    assert "**PDF**\n\nA PDF is made by LaTeX" in text


WRITTEN_CALL = '{"name": "export", "arguments": {"notebook": "cars.ipynb"}}'


@pytest.mark.parametrize(
    ("subcommand", "known"),
    [
        (None, "**PDF**\n\nA PDF is made by LaTeX"),
        ("learn", "**PDF**\n\nA PDF is made by LaTeX"),
        ("brainstorm", "- **Export the notebook**"),
    ],
)
@pytest.mark.parametrize("more", ["", " More: [nbconvert](https://example.org)"])
def test_a_call_as_text_is_no_answer_of_a_service(
    server: RunningServer,
    model: ScriptedModelServer,
    subcommand: str | None,
    known: str,
    more: str,
) -> None:
    model.script(Say(f"{WRITTEN_CALL}{more}"))
    chosen: dict[str, Any] = {}
    if subcommand is not None:
        chosen["intent"] = {"service": "notebook", "subcommand": subcommand}
    message = "/notebook how is a PDF made?"
    events = events_of(server, new_session(server), message=message, **chosen)
    text = of_type(events, "final_reply")[0]["text"]
    assert known in text
    assert "arguments" not in text
    # What was shown of it as it came is taken back.
    shown = {each["itemId"] for each in of_type(events, "text_delta")}
    assert {each["itemId"] for each in of_type(events, "item_discarded")} == shown
    # What a small model is sent, it calls.
    assert model.requests[0].tool_names == ([] if subcommand else ["proposeAction"])


def test_prose_beside_a_call_as_text_is_kept(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    answer = f"{WRITTEN_CALL}\n\nThis would export it: a PDF is made by LaTeX [3]."
    model.script(Say(answer))
    events = events_of(server, new_session(server), message="/notebook how is a PDF made?")
    assert of_type(events, "final_reply")[0]["text"] == f"{answer}\n\n- [3] Notebook, PDF"


def test_a_question_to_a_service_sends_tools_where_the_conversation_has_calls(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session = new_session(server)
    model.script(Call("listKernels"), Say("None."), Say("By LaTeX [3]."))
    events_of(server, session, message="Which kernels run?")
    learn = {"service": "notebook", "subcommand": "learn"}
    events_of(server, session, message="/notebook how is a PDF made?", intent=learn)
    assert model.requests[-1].tool_names


def test_a_model_that_refuses_the_key_is_reported(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Status(401))
    events = events_of(server, new_session(server), message="/notebook export as Markdown")
    assert of_type(events, "action_proposed") == []
    assert of_type(events, "error")


def test_a_run_with_a_value_that_is_none_is_refused(server: RunningServer) -> None:
    body = {
        "parameters": {"notebook": "cars.ipynb", "format": "docx"},
        "activeNotebook": "cars.ipynb",
    }
    reply = server.request("POST", "services/notebook/actions/export/run", json=body)
    assert reply.status_code == 422
    assert "'docx' is not one of the choices" in reply.json()["error"]["message"]


def test_the_lists_and_the_dry_run_over_http(server: RunningServer) -> None:
    listed = server.get("services")
    assert listed["problems"] == []
    assert server.get("services/notebook")["actions"][0]["id"] == "export"
    proposal = server.post(
        "services/notebook/actions/export/dry-run", {"message": "in Folien: slides"}
    )
    values = {each["name"]: each.get("value") for each in proposal["parameters"]}
    assert values["format"] == "slides"
    assert server.post("intent", {"message": "Export this notebook as HTML"})["service"] == (
        "notebook"
    )


@pytest.mark.parametrize("message", ["/help", "/notebook", "/notebook do not export it as slides"])
def test_a_command_is_no_reply_to_the_open_proposal(
    server: RunningServer, model: ScriptedModelServer, message: str
) -> None:
    session = new_session(server)
    model.script(export(format="html"), Say("It is not exported."))
    events_of(server, session, message="/notebook export to HTML")
    events = events_of(server, session, message=message)
    assert of_type(events, "action_proposed") == []


@pytest.mark.parametrize(
    "message",
    [
        "Do not export this notebook as HTML",
        "Bitte exportiere dieses Notebook nicht",
        "N'exporte pas ce notebook en HTML",
    ],
)
def test_what_is_not_to_be_done_is_not_proposed(
    server: RunningServer, model: ScriptedModelServer, message: str
) -> None:
    model.script(Say("As you wish."))
    events = events_of(server, new_session(server), message=message)
    assert of_type(events, "intent_detected", "action_proposed") == []
    assert len(model.requests) == 1


def test_what_the_agent_itself_lists_is_no_claim_of_an_act(server: RunningServer) -> None:
    cars = {"kind": "notebook", "path": "cars.ipynb"}
    events = events_of(
        server, new_session(server), message="/jupyterlab", mode="agent", attachments=[cars]
    )
    assert of_type(events, "final_reply")[0].get("notDone") is None


@pytest.mark.parametrize(
    ("message", "nearest"),
    [("/plot cars.csv", "visualize"), ("/help notebok", "notebook"), ("/conect", "connect")],
)
def test_the_command_that_was_meant_is_named(
    server: RunningServer, message: str, nearest: str
) -> None:
    (unknown,) = of_type(events_of(server, new_session(server), message=message), "command_unknown")
    assert unknown["nearest"][0] == nearest


@pytest.mark.parametrize("name", sorted(PANEL_COMMANDS - {"help"}))
def test_a_command_of_the_panel_is_not_denied_elsewhere(server: RunningServer, name: str) -> None:
    events = events_of(server, new_session(server), message=f"/{name}")
    (unknown,) = of_type(events, "command_unknown")
    assert name not in unknown["nearest"]
    reply = of_type(events, "final_reply")[0]["text"]
    assert reply.startswith(f"`/{name}` is a command of the chat panel, and does nothing here.")


def test_a_form_that_is_opened_without_a_message_has_the_active_notebook(
    server: RunningServer,
) -> None:
    proposal = server.post(
        "services/notebook/actions/clean/dry-run",
        {"message": "", "activeNotebook": "cars.ipynb"},
    )
    (notebook,) = [each for each in proposal["parameters"] if each["name"] == "notebook"]
    assert notebook["value"] == "cars.ipynb"


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("convert nosuch.csv to parquet", "There is no file nosuch.csv."),
        ("convert a.csv or b.csv to parquet", None),
    ],
)
def test_a_data_file_that_is_named_and_not_there_is_reported(
    server: RunningServer, message: str, problem: str | None
) -> None:
    proposal = server.post("services/data/actions/convert/dry-run", {"message": message})
    (data,) = [each for each in proposal["parameters"] if each["name"] == "data"]
    assert (data["found"], data.get("problem")) == (False, problem)

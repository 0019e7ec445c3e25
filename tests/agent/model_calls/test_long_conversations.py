"""A conversation holds however long it gets: what is sent of it, by what the model received."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

from tests.agent.turn.test_loop import ENDS, until
from tests.support.jupyter import RunningServer
from tests.support.long_chats import compacted, is_summary, prefix_shares, summary_of, tokens_of
from tests.support.model_server import (
    Answer,
    Call,
    Empty,
    Gate,
    RecordedRequest,
    Say,
    ScriptedModelServer,
    Status,
    TokenCounts,
)

SMALL, WINDOW = "openai/gpt-3.5-turbo", 16_385
SMALLEST, SMALLEST_WINDOW = "openai/gpt-4", 8_192
"""Models whose windows litellm knows."""
FILLER = "The quick brown fox jumps over the lazy dog and wonders about regressions. "
TOO_LONG = {
    "error": {
        "message": "This model's maximum context length is 4096 tokens.",
        "code": "context_length_exceeded",
        "type": "invalid_request_error",
    }
}


class Chat:
    """One session, talked to over HTTP."""

    def __init__(self, server: RunningServer, **more: Any) -> None:
        self.server = server
        self.more = {"mode": "ask", **more}
        self.id = server.post("sessions", {})["id"]

    def say(self, message: str, **more: Any) -> Any:
        request = {"message": message, "sessionId": self.id, **self.more, **more}
        return self.server.post("chat", request)

    def op(self, **op: Any) -> None:
        self.server.post(f"sessions/{self.id}/ops", op)

    def events(self) -> Iterator[Any]:
        return self.server.stream(f"sessions/{self.id}/events")

    def emitted(self, *types: str) -> list[Any]:
        """The events of these types that the session has emitted so far."""
        last = self.server.get(f"sessions/{self.id}")["lastSeq"]
        seen = []
        for event in self.events():
            seen += [event] if event["type"] in types else []
            if event["seq"] >= last:
                return seen
        return seen


def on(path: str) -> dict[str, Any]:
    """What a request says of the notebook that it is about."""
    return {"attachments": [{"kind": "notebook", "path": path}], "activeNotebook": path}


def long_answers(request: RecordedRequest) -> Any:
    """A long answer; in every fifth turn after a look at the notebook; and the summaries."""
    facts = [f"FACT-{number:02}-" for number in range(60)]
    if is_summary(request):
        return summary_of(request, facts)
    turns = sum("FACT-" in str(item.get("content")) for item in request.items)
    if turns % 5 == 4 and request.items[-1]["role"] == "user":
        return Call("getNotebookCells")
    return Say(FILLER * 12, chunk=10_000)


def test_sixty_turns_keep_their_first_fact_and_stay_below_the_window(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.set_default(long_answers)
    chat = Chat(server, model=SMALL, **{**on("cars.ipynb"), "mode": "agent"})
    first = "FACT-00- My favourite colour is blue."
    for number in range(60):
        message = first if number == 0 else f"FACT-{number:02}- Go on with part {number}. {FILLER}"
        assert chat.say(message)["status"] == "completed"
    turns = [request for request in model.requests if not is_summary(request)]
    summaries = [request for request in model.requests if is_summary(request)]
    assert len(turns) >= 60
    assert 3 <= len(summaries) <= 12
    for request in turns:
        known = first if compacted(request) is None else "FACT-00-"
        assert known in request.text
    sizes = [tokens_of(request) for request in model.requests]
    assert max(sizes) < WINDOW, sizes
    same = [
        share
        for share, before, after in zip(prefix_shares(turns), turns, turns[1:], strict=False)
        if compacted(before) == compacted(after)
    ]
    print(
        f"\n{len(turns)} requests, {len(summaries)} summaries, largest {max(sizes):,} tokens of "
        f"{WINDOW:,}; unchanged prefix between compactions: least {min(same):.1%}, "
        f"mean {sum(same) / len(same):.1%}"
    )
    assert min(same) > 0.8
    everything = zip(prefix_shares(model.requests), model.requests[1:], strict=True)
    cached = [share for share, request in everything if is_summary(request)]
    assert min(cached) > 0.8, "a summary is asked for behind the prefix that the provider has"
    emitted = chat.emitted("context_compacted")
    assert [event["how"] for event in emitted] == ["summary"] * len(summaries)
    kept = server.get(f"sessions/{chat.id}/turns", limit=200)["turns"]
    assert kept[0]["message"] == first
    assert len(kept) == 60, "nothing is deleted"


def test_a_conversation_is_compacted_before_it_fills_the_models_window(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.set_default(long_answers)
    chat = Chat(server, model=SMALLEST)
    first = "FACT-00- My favourite colour is blue."
    for number in range(24):
        long = FILLER * 60 if number % 3 == 2 else ""
        chat.say(first if number == 0 else f"FACT-{number:02}- Go on. {long}")
    summaries = [request for request in model.requests if is_summary(request)]
    assert len(summaries) >= 3, "more often than the turns alone would have it"
    sizes = [tokens_of(request) for request in model.requests]
    assert max(sizes) < SMALLEST_WINDOW, sizes
    for request in model.requests:
        assert "FACT-00-" in request.text
    statuses = [event["message"] for event in chat.emitted("status")]
    assert statuses.count("Summarising the earlier conversation") == len(summaries)
    emitted = chat.emitted("context_compacted")
    assert all(event["tokensAfter"] < event["tokensBefore"] for event in emitted)
    assert all("FACT-00-" in event["summary"] for event in emitted)


def test_the_newest_messages_stay_word_for_word_and_old_outputs_do_not_change(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    chat = Chat(server, **on("cars.ipynb"))
    model.script(Call("getNotebookCells"), Say("Read."))
    chat.say("What is in the notebook?")
    model.script(Say("Blue it is."))
    chat.say("My favourite colour is blue.")
    model.script(Say("SUMMARY: cars.ipynb was read."), Say("Blue."))
    chat.op(type="compact")
    until(chat.events(), "context_compacted")
    chat.say("Which is my favourite colour?")
    asked, after = model.requests[-2:]
    assert is_summary(asked)
    assert asked.body["tool_choice"] == "none"
    head = compacted(after)
    assert head is not None
    assert "SUMMARY: cars.ipynb was read." in head
    assert "What is in the notebook?" in head
    assert "Blue it is." in after.text, "the newest turn stays whole"
    assert not after.tool_outputs
    turns = server.get(f"sessions/{chat.id}/turns", include="events")["turns"]
    emitted = ["context_compacted" in {each["type"] for each in turn["events"]} for turn in turns]
    assert sorted(emitted) == [False, False, True]
    assert emitted[1], "it comes after the turn that came before it"


def test_peers_08_a_compaction_survives_a_restart_byte_for_byte(
    tmp_path: Any, model: ScriptedModelServer
) -> None:
    own_api = {"DATALAYER_AGENT_MODEL_API": "responses"}
    with RunningServer(tmp_path, api_base=model.base_url, environment=own_api) as server:
        chat = Chat(server)
        model.set_default(
            lambda request: summary_of(request, ["blue"]) if is_summary(request) else Say("Noted.")
        )
        chat.say("My favourite colour is blue.")
        for number in range(17):
            chat.say(f"Go on with {number}.")
        chat.say("Which is my favourite colour?")
        before = model.requests[-1]
        server.kill()
        server.start()
        chat.say("And now?", model="openai/another", mode="ask")
        restarted = model.requests[-1]
    past = [item for item in before.items if item["role"] != "system"][:-2]
    again = [item for item in restarted.items if item["role"] != "system"]
    assert before.api == "responses"
    assert compacted(before) is not None
    assert again[: len(past)] == past
    assert "blue" in restarted.text
    assert restarted.model == "another"


def noted(request: RecordedRequest) -> Any:
    """A short answer; a summary that knows blue."""
    return summary_of(request, ["blue"]) if is_summary(request) else Say("Noted.")


def test_the_favourite_colour_is_known_after_the_session_left_memory_and_a_change_of_mode(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.set_default(noted)
    chat = Chat(server)
    chat.say("My favourite colour is blue.")
    chat.op(type="shutdown")
    chat.say("Which is it?", mode="agent", model="openai/another")
    assert "My favourite colour is blue." in model.requests[-1].text
    assert model.requests[-1].text.count("Noted.") == 1


def test_the_oldest_turns_are_dropped_with_a_notice_to_the_user_when_there_is_no_summary(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    refused = Status(400, body={"error": {"message": "No summaries today.", "type": "x"}})
    model.set_default(lambda request: refused if is_summary(request) else Say("REPLY " + FILLER))
    chat = Chat(server)
    chat.say("My favourite colour is blue.")
    for number in range(15):
        chat.say(f"Go on with {number}.")
    reply = chat.say("Which is my favourite colour?")
    assert reply["status"] == "completed"
    head = compacted(model.requests[-1])
    assert head is not None
    assert "was left out here" in head
    assert "My favourite colour is blue." in head, "messages of the user are short, and stay"
    assert model.requests[-1].text.count("REPLY ") == 8
    (emitted,) = chat.emitted("context_compacted")
    assert (emitted["how"], emitted["before"], emitted["after"]) == ("dropped", 16, 8)
    (warning,) = chat.emitted("warning")
    assert warning["code"] == "history_dropped"
    assert "No summaries today." in warning["message"]


def test_a_key_that_is_refused_costs_no_history(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    chat = Chat(server)
    model.set_default(Say("Noted."))
    for number in range(16):
        chat.say(f"Part {number}.")
    model.set_default(Status(401))
    response = server.request("POST", "chat", json={"message": "next", "sessionId": chat.id})
    assert response.json()["error"]["code"] == "model_error"
    assert chat.emitted("context_compacted") == []
    model.set_default(noted)
    chat.say("My favourite colour is blue.")
    (emitted,) = chat.emitted("context_compacted")
    assert emitted["how"] == "summary"


def test_an_empty_summary_counts_as_none(server: RunningServer, model: ScriptedModelServer) -> None:
    chat = Chat(server)
    model.script(Say("One."), Say("Two."), Empty())
    chat.say("one")
    chat.say("two")
    chat.op(type="compact")
    (emitted,) = until(chat.events(), "context_compacted")[-1:]
    assert emitted["how"] == "dropped"


def test_a_request_that_is_refused_as_too_long_loses_its_oldest_turns_and_is_sent_again(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    """The model reads less than anybody knows."""
    limit = 9_000

    def reads_little(request: RecordedRequest) -> Any:
        if len(request.text) > limit:
            return Status(400, body=TOO_LONG)
        return Say("Read.")

    model.set_default(reads_little)
    chat = Chat(server, model="openai/unknown")
    for number in range(9):
        reply = chat.say(f"Part {number}. " + FILLER * 20)
        assert reply["status"] == "completed", reply
    assert "Part 8. " in model.requests[-1].text
    assert "Part 7. " in model.requests[-1].text
    assert chat.emitted("context_compacted")
    warnings = {event["code"] for event in chat.emitted("warning")}
    assert warnings <= {"history_dropped"}
    refused = sum(request.outcome == "status" for request in model.requests)
    assert refused <= 4, "what was refused once is known"


def test_a_turn_that_outgrows_the_model_leaves_out_its_oldest_steps(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("x y z " * 1_500)]),
        server.root / "long.ipynb",
    )

    def reads(request: RecordedRequest) -> Any:
        if len(request.text) > 40_000:
            return Status(400, body=TOO_LONG)
        count = sum(len(r.tool_outputs) > 0 for r in model.requests)
        return Call("getNotebookCells") if count < 8 else Say("Seen.")

    model.set_default(reads)
    chat = Chat(server, model="openai/unknown", **on("long.ipynb"))
    reply = chat.say("Read it many times. My word is HEIDELBEERE.")
    assert reply["status"] == "completed", reply
    last = model.requests[-1]
    assert "HEIDELBEERE" in last.text
    assert "Earlier steps of this turn were left out" in last.text
    calls = [c["id"] for item in last.items for c in item.get("tool_calls") or []]
    assert calls == list(last.tool_outputs), "every call has its output"


def test_stop_ends_a_summary_and_leaves_the_conversation_as_it_was(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    chat = Chat(server)
    model.script(Say("One."), Say("Two."), Gate(Say("Half a summary"), after=1))
    chat.say("My favourite colour is blue.")
    chat.say("two")
    chat.op(type="compact")
    model.wait_for(model.at_gate)
    chat.op(type="interrupt")
    assert until(chat.events(), "warning")[-1]["code"] == "compaction_stopped"
    model.wait_for(model.answered(2, "disconnected"))
    assert chat.emitted("token_usage")[-1]["call"]["estimated"], "what was written is paid"
    model.script(Say("Blue."))
    chat.say("Which colour?")
    assert compacted(model.requests[-1]) is None
    assert "My favourite colour is blue." in model.requests[-1].text


def test_stop_during_the_summary_before_a_turn_ends_the_turn(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    chat = Chat(server)
    model.set_default(Say("Noted."))
    for number in range(16):
        chat.say(f"Part {number}.")
    model.set_default(lambda r: Gate(Say("Half a summary"), after=1))
    chat.op(type="user_message", request={"message": "next"})
    model.wait_for(model.at_gate)
    chat.op(type="interrupt")
    last = server.get(f"sessions/{chat.id}")["lastSeq"]
    stream = server.stream(f"sessions/{chat.id}/events", params={"after": last - 1})
    assert until(stream, *ENDS)[-1]["reason"] == "interrupted"
    model.wait_for(model.answered(16, "disconnected"))
    assert chat.emitted("context_compacted") == []


def test_compact_waits_for_the_running_turn(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    chat = Chat(server)
    model.script(Say("One."), Gate(Say("Two."), after=1), Say("A summary."), Say("Three."))
    chat.say("one")
    chat.op(type="user_message", request={"message": "two"})
    model.wait_for(model.at_gate)
    chat.op(type="compact")
    chat.op(type="user_message", request={"message": "three"})
    model.release()
    seen = until(chat.events(), "context_compacted")
    assert [e["type"] for e in seen if e["type"] in ("turn_completed", "context_compacted")] == [
        "turn_completed",
        "turn_completed",
        "context_compacted",
    ]
    model.wait_for(model.received(4))
    assert compacted(model.requests[3]) is not None


def test_tokens_and_cost_are_counted_by_call_turn_and_session(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    """A price that litellm knows; the summary costs, too."""
    chat = Chat(server, model="openai/gpt-4o")
    model.script(
        Answer([Say("One.")], usage=TokenCounts(1000, 100, 500)),
        Answer([Say("Two.")], usage=TokenCounts(2000, 100, 0)),
        Answer([Say("A summary.")], usage=TokenCounts(3000, 200, 0)),
    )
    first = chat.say("one")["usage"]
    assert first["cachedTokens"] == 500
    assert not first["estimated"]
    assert first["cost"] == pytest.approx(500 * 2.5e-6 + 500 * 1.25e-6 + 100 * 1e-5)
    second = chat.say("two")["usage"]
    assert second["sessionTokens"] == 3200
    assert second["sessionCost"] == pytest.approx(first["cost"] + 2000 * 2.5e-6 + 100 * 1e-5)
    chat.op(type="compact")
    until(chat.events(), "context_compacted")
    model.script(Answer([Say("Three.")], usage=TokenCounts(10, 1)))
    third = chat.say("three")["usage"]
    assert third["sessionTokens"] == 3200 + 3200 + 11
    session = server.get(f"sessions/{chat.id}")
    assert session["sessionTokens"] == third["sessionTokens"]
    assert session["sessionCost"] == pytest.approx(third["sessionCost"])


def test_tokens_are_estimated_where_the_provider_counts_none(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    chat = Chat(server)
    model.script(Answer([Say("One " + FILLER)], usage=TokenCounts(0, 0)))
    usage = chat.say("one")["usage"]
    assert usage["estimated"] is True
    assert "cost" not in usage, "nobody knows the price of this model"
    counted = tokens_of(model.requests[-1])
    assert usage["inputTokens"] == pytest.approx(counted, rel=0.15)
    assert 10 < usage["outputTokens"] < 40
    assert usage["totalTokens"] == usage["inputTokens"] + usage["outputTokens"]
    assert server.get(f"sessions/{chat.id}")["sessionTokens"] == usage["totalTokens"]


def test_a_stopped_call_is_counted_by_an_estimate(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    chat = Chat(server, model="openai/gpt-4o")
    model.script(Gate(Say("x" * 400, chunk=400), after=1))
    chat.op(type="user_message", request={"message": "one", "model": "openai/gpt-4o"})
    model.wait_for(model.at_gate)
    events = chat.events()
    until(events, "text_delta")
    chat.op(type="interrupt")
    until(events, *ENDS)
    (emitted,) = chat.emitted("token_usage")
    assert emitted["usage"]["estimated"] is True
    assert emitted["usage"]["outputTokens"] == 100
    assert emitted["usage"]["inputTokens"] == pytest.approx(tokens_of(model.requests[0]), rel=0.3)
    assert emitted["usage"]["cost"] > 0
    (turn,) = server.get(f"sessions/{chat.id}/turns")["turns"]
    assert turn["usage"] == emitted["usage"]


def test_the_models_window_is_known_before_the_first_call_of_a_new_server(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    """Only litellm knows it, and is not loaded yet: nothing is sent that would be refused."""
    model.set_default(lambda r: Say("S" * 40) if is_summary(r) else Say(FILLER * 20))
    chat = Chat(server, model=SMALLEST)
    for number in range(8):
        chat.say(f"Part {number}. " + FILLER * 20)
    assert not any(map(is_summary, model.requests))
    server.stop()
    server.start()
    chat.say("And now a long one. " + FILLER * 60)
    assert is_summary(model.requests[8])
    assert compacted(model.requests[9]) is not None
    assert tokens_of(model.requests[9]) < SMALLEST_WINDOW


def test_going_back_into_summarised_turns_sends_them_whole_again(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.set_default(noted)
    chat = Chat(server)
    turns = [chat.say(f"Part {number}.")["turnId"] for number in range(17)]
    assert compacted(model.requests[-1]) is not None
    chat.op(type="go_back", turnId=turns[3], documents=False)
    until(chat.events(), "went_back")
    chat.say("Go on.")
    sent = model.requests[-1]
    assert compacted(sent) is None
    said = [line for line in sent.text.splitlines() if line.startswith("Part ")]
    assert said == [f"Part {number}." for number in range(4)]

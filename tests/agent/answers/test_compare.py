"""A message that several models answer side by side: over HTTP, in real time, and after a crash."""

from __future__ import annotations

from pathlib import Path

from tests.support.jupyter import RunningServer
from tests.support.model_server import (
    Answer,
    BreakAfter,
    Call,
    Gate,
    Hang,
    Say,
    ScriptedModelServer,
    Status,
    TokenCounts,
)
from tests.support.sessions import act, chat, new_notebook, sources, turns

from .comparing import (
    A,
    B,
    C,
    D,
    begin,
    compare,
    ended,
    events_until,
    exports,
    newest,
    requests_of,
    script,
)

BLUE, RED, GREEN = Say("Blue, says alpha."), Say("Red, says beta."), Say("Green, says gamma.")


def test_the_models_answer_at_the_same_time_each_with_its_own_tokens_and_time(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, _ = chat(server, model, ("My name is Ada", "Noted."))
    slow = Say("Green, says gamma.", chunk=3, delay_ms=60)
    script(
        model,
        alpha=Gate(Answer([BLUE], usage=TokenCounts(100, 10))),
        beta=Gate(Answer([RED], usage=TokenCounts(200, 20))),
        gamma=Gate(Answer([slow], usage=TokenCounts(300, 30, 256))),
    )
    last = server.get(f"sessions/{session}")["lastSeq"]
    begin(server, session, A, B, C)
    model.wait_for(lambda: model.waiting == 3 and len(model.requests) == 4)
    model.wait_for(lambda: all(r.first_sent_at for r in model.requests[1:]))
    model.release(3)
    events = events_until(server, session, last, "turn_completed")
    asked = model.requests[1:]
    first_sent = [r.first_sent_at or 0.0 for r in asked]
    assert max(first_sent) < min(r.ended_at or 0.0 for r in asked), "they overlapped in time"
    assert all("My name is Ada" in r.text and "Which colour?" in r.text for r in asked)

    started = next(e for e in events if e["type"] == "turn_started")
    assert started["compare"] == [A, B, C]
    done = {e["model"]: e for e in events if e["type"] == "answer_finished"}
    assert {m: e["text"] for m, e in done.items()} == {
        A: BLUE.text, B: RED.text, C: "Green, says gamma."
    }  # fmt: skip
    for each in done.values():
        assert each["status"] == "completed"
        assert each["durationMs"] > 0
        assert each["provenance"]["responseType"] == "batch"
    counted = ("inputTokens", "outputTokens", "cachedTokens", "totalTokens")
    assert {m: [e["usage"][name] for name in counted] for m, e in done.items()} == {
        A: [100, 10, 0, 110], B: [200, 20, 0, 220], C: [300, 30, 256, 330]
    }  # fmt: skip
    assert len({e["provenance"]["responseIndex"] for e in done.values()}) == 3
    assert done[C]["durationMs"] > 250, "six pieces, 60 ms apart"

    turn = newest(server, session)
    assert (turn["status"], turn["reply"], turn["compare"]) == ("completed", "", [A, B, C])
    assert {a["model"]: a["text"] for a in turn["answers"]} == {
        m: e["text"] for m, e in done.items()
    }
    assert all(a["usage"]["totalTokens"] and a["durationMs"] for a in turn["answers"])
    chosen = next(a for a in turn["answers"] if a["answerId"] == turn["chosenAnswer"])
    assert chosen["model"] == A, "the first of the models, not the first to end"
    assert turn["usage"]["totalTokens"] == 660
    rows = {row["key"]: row for row in server.get("usage", by="model")["rows"]}
    assert {m: rows[m]["modelCalls"] for m in (A, B, C)} == {A: 1, B: 1, C: 1}
    (hit,) = server.get("search", q="says gamma")["results"]
    assert (hit["turnId"], hit["role"]) == (turn["id"], "assistant")
    for text in exports(server, session).values():
        assert all(each in text for each in (A, B, C, BLUE.text, RED.text))


def test_one_that_fails_breaks_off_or_has_no_key_does_not_harm_the_others(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    refused = Status(
        401, body={"error": {"message": "Incorrect API key provided: sk-abc123secret"}}
    )
    script(
        model,
        alpha=refused,
        beta=[Status(429, {"Retry-After": "0"}), BreakAfter(1, Say("Half", chunk=2)), RED],
        gamma=Status(400, body={"error": {"message": "This model is not for you"}}),
    )
    keyless = "anthropic/claude-sonnet-5-5"
    reply = compare(server, A, B, C, keyless)
    assert (reply["status"], reply["reply"]) == ("completed", RED.text)
    (answer,) = reply["answers"]
    assert (answer["model"], answer["answerId"]) == (B, reply["chosenAnswer"])
    failed = {each["model"]: each for each in reply["unanswered"]}
    assert {m: (e["status"], e["code"]) for m, e in failed.items()} == {
        A: ("failed", "model_error"), C: ("failed", "model_error"), keyless: ("failed", "no_model")
    }  # fmt: skip
    assert "key" in failed[A]["message"].lower()
    assert "sk-abc123secret" not in str(reply)
    assert "not for you" in failed[C]["message"]
    assert "ANTHROPIC_API_KEY" in failed[keyless]["message"]
    turn = newest(server, reply["sessionId"])
    said = [e["message"] for e in turn["events"] if e["type"] == "answer_status"]
    assert any(each.startswith("Reconnecting 1") for each in said), "it says what it waits for"
    deltas = [e["delta"] for e in turn["events"] if e["type"] == "answer_delta"]
    assert deltas == [RED.text], "what broke off is not drawn again"
    assert len(requests_of(model, B)) == 3


def test_one_that_repeats_itself_is_ended_and_says_so(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    script(model, alpha=RED, beta=Say("It is blue, as the sky is. " * 2000, chunk=400))
    reply = compare(server, A, B)
    texts = {each["model"]: each["text"] for each in reply["answers"]}
    assert texts[A] == RED.text
    assert texts[B].endswith("\n\n*The model repeated itself, so its answer was stopped.*")
    assert texts[B].count("as the sky is") == 2


def test_where_none_answers_the_turn_fails_and_says_so(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    script(model, alpha=Status(401), beta=Status(403))
    reply = compare(server, A, B, status=502)
    assert (reply["status"], reply["error"]["code"]) == ("failed", "model_error")
    assert "None of the models answered" in reply["error"]["message"]
    assert [each["model"] for each in reply["unanswered"]] == [A, B]
    script(model, alpha=Say("Yes."))
    body = {"message": "Again", "sessionId": reply["sessionId"], "model": A}
    assert server.post("chat", body)["reply"] == "Yes."


def test_they_only_read_whatever_the_mode_and_each_keeps_its_calls(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    new_notebook(server.root / "cars.ipynb", "price = 12")
    script(
        model,
        alpha=[Call("getNotebookCells", {}, "call_1"), Say("Twelve.")],
        beta=[
            Call("updateNotebookCell", {"cellId": "c0", "content": "price = 0"}, "call_1"),
            Call("executeCode", {"code": "open('made.txt', 'w')"}, "call_2"),
            Call("askUser", {"question": "May I?"}, "call_3"),
            Say("I may not."),
        ],
    )
    reply = compare(
        server, A, B, mode="agent", approval="never",
        attachments=[{"kind": "notebook", "path": "cars.ipynb"}], activeNotebook="cars.ipynb",
    )  # fmt: skip
    answers = {each["model"]: each for each in reply["answers"]}
    assert [c["name"] for c in answers[A]["toolCalls"]] == ["getNotebookCells"]
    assert answers[A]["toolCalls"][0]["status"] == "ok"
    assert "price = 12" in str(answers[A]["toolCalls"][0]["output"])
    refused = answers[B]["toolCalls"]
    assert [(c["name"], c["status"]) for c in refused] == [
        ("updateNotebookCell", "error"), ("executeCode", "error"), ("askUser", "error")
    ]  # fmt: skip
    assert all(c["output"]["error"]["code"] == "not_allowed" for c in refused)
    assert sources(server.root / "cars.ipynb") == ["price = 12"]
    assert not (server.root / "made.txt").exists()
    offered = set(requests_of(model, A)[0].tool_names)
    assert "getNotebookCells" in offered
    assert not offered & {"updateNotebookCell", "runNotebookCells", "executeCode", "askUser"}

    turn = newest(server, reply["sessionId"])
    assert (turn["toolCalls"], turn["changes"]) == ([], [])
    kept = {a["model"]: [c["name"] for c in a["toolCalls"]] for a in turn["answers"]}
    assert kept == {m: [c["name"] for c in a["toolCalls"]] for m, a in answers.items()}
    started = [e for e in turn["events"] if e["type"] == "tool_call_started"]
    assert {e["answerId"] for e in started} == {a["answerId"] for a in turn["answers"]}
    assert len({e["callId"] for e in started}) == 4, "two providers may give the same id"
    script(model, alpha=Say("Go on."))
    server.post("chat", {"message": "Next", "sessionId": reply["sessionId"], "model": A})
    sent = model.requests[-1]
    assert "Twelve." in sent.text
    assert "I may not." not in sent.text
    assert sent.tool_outputs == {}, "only the answer is sent, not what it read"


def test_only_the_answer_that_was_chosen_is_sent_with_the_next_message(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    script(model, alpha=BLUE, beta=RED, gamma=GREEN)
    reply = compare(server, A, B, C)
    session, turn = reply["sessionId"], reply["turnId"]
    by_model = {each["model"]: each["answerId"] for each in reply["answers"]}
    op = {"type": "choose_answer", "turnId": turn, "answerId": by_model[B]}
    assert act(server, session, op, "answer_chosen")["answerId"] == by_model[B]
    none = act(server, session, {"type": "choose_answer", "turnId": turn}, "answer_chosen")
    assert none["code"] == "invalid_request"
    copy = server.post(f"sessions/{session}/fork", {})["id"]
    for each in (session, copy):
        script(model, alpha=Say("Dark red."))
        server.post("chat", {"message": "Which shade?", "sessionId": each, "model": A})
        sent = model.requests[-1].text
        assert RED.text in sent
        assert BLUE.text not in sent
        assert GREEN.text not in sent
        first = turns(server, each)[0]
        assert first["chosenAnswer"] == by_model[B]
        assert all(a["usage"]["totalTokens"] and a["durationMs"] for a in first["answers"])


def test_stop_stops_all_and_keeps_what_was_complete(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, _ = chat(server, model, ("One", "1"))
    held = Gate(Say("A long answer that is never read to its end.", chunk=4), after=2)
    script(model, alpha=held, beta=RED, gamma=held)
    last = server.get(f"sessions/{session}")["lastSeq"]
    begin(server, session, A, B, C, until="answer_finished")
    model.wait_for(lambda: model.waiting == 2)
    act(server, session, {"type": "interrupt"}, "turn_aborted")
    turn = newest(server, session)
    assert turn["status"] == "aborted"
    assert {m: e["status"] for m, e in ended(turn).items()} == {
        A: "stopped", B: "completed", C: "stopped"
    }  # fmt: skip
    assert ended(turn)[A]["usage"]["estimated"] is True, "what was said of it is counted"
    types = [e["type"] for e in events_until(server, session, last, "turn_aborted")]
    assert types.count("answer_finished") == 3, "each has its end before the turn's"
    outcomes = {r.model: r.outcome for r in model.requests[1:]}
    model.wait_for(lambda: all(r.outcome for r in model.requests))
    outcomes = {r.model: r.outcome for r in model.requests[1:]}
    assert outcomes == {"alpha": "disconnected", "beta": "completed", "gamma": "disconnected"}
    script(model, alpha=Say("Fine."))
    server.post("chat", {"message": "Next", "sessionId": session, "model": A})
    sent = model.requests[-1].text
    assert RED.text in sent
    assert "The user stopped the turn" in sent
    assert "A long answer" not in sent


def test_one_that_hangs_is_stopped_alone_and_the_others_are_used(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, _ = chat(server, model, ("One", "1"))
    script(model, alpha=Hang(600), beta=RED)
    last = server.get(f"sessions/{session}")["lastSeq"]
    begin(server, session, A, B, until="answer_finished")
    running = newest(server, session)
    assert running["status"] == "running"
    started = {e["model"]: e for e in running["events"] if e["type"] == "answer_started"}
    stop = {"type": "interrupt", "answerId": started[A]["answerId"]}
    stopped = act(server, session, stop, "answer_finished")
    assert (stopped["model"], stopped["status"]) == (A, "stopped")
    events_until(server, session, last, "turn_completed")
    turn = newest(server, session)
    assert turn["status"] == "completed"
    assert [each["model"] for each in turn["answers"]] == [B]
    again = act(server, session, stop, "answer_finished")
    assert (again["type"], again["code"]) == ("error", "not_found")


def test_the_token_limit_holds_for_the_sum(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, _ = chat(server, model, ("One", "1"))
    script(model, alpha=BLUE, beta=RED)
    reply = compare(server, A, B, sessionId=session)
    size = max(each["usage"]["inputTokens"] for each in reply["answers"])
    used = server.get(f"sessions/{session}")["sessionTokens"]
    server.request(
        "PATCH", f"sessions/{session}", json={"settings": {"tokenLimit": used + 3 * size}}
    )
    script(model, alpha=Gate(BLUE, after=0), beta=Gate(RED, after=0), gamma=GREEN, delta=GREEN)
    last = server.get(f"sessions/{session}")["lastSeq"]
    begin(server, session, A, B, C, D, until="answer_finished")
    model.wait_for(lambda: model.waiting >= 1)
    model.release(2)
    events_until(server, session, last, "turn_completed")
    codes = [e.get("code") for e in ended(newest(server, session)).values()]
    assert "token_limit" in codes, "one alone would have kept within it"
    assert codes.count(None) >= 1


def test_a_wrong_choice_of_models_is_refused_with_what_to_do(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    for models, words in (
        ([A], "2 to 4"),
        ([A, B, C, D, "openai/e"], "2 to 4"),
        ([A, A], "twice"),
        ([A, " "], "empty"),
    ):
        error = compare(server, *models, status=400)["error"]
        assert error["code"] == "invalid_request"
        assert words in str(error), error
    inline = compare(server, A, B, status=400, location="inline", activeNotebook=None)
    assert "panel" in inline["error"]["message"]
    session, (one,) = chat(server, model, ("One", "1"))
    both = {"type": "ask_again", "turnId": one, "models": [A, A]}
    assert server.request("POST", f"sessions/{session}/ops", json=both).status_code == 400
    nothing = {"type": "ask_again", "turnId": one}
    assert server.request("POST", f"sessions/{session}/ops", json=nothing).status_code == 400


def test_two_comparisons_at_once_do_not_mix(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    one, _ = chat(server, model, ("One", "1"))
    two, _ = chat(server, model, ("Two", "2"))
    gated = [Gate(Say(f"Answer {n}"), after=0) for n in range(2)]
    script(model, alpha=list(gated), beta=list(gated))
    lasts = {each: server.get(f"sessions/{each}")["lastSeq"] for each in (one, two)}
    for each in (one, two):
        begin(server, each, A, B)
    # A second one in a session waits for the first, as any message.
    queued = act(
        server, one, {"type": "user_message", "request": {"message": "Third", "compare": [A, B]}},
        "op_queued",
    )  # fmt: skip
    assert queued["message"] == "Third"
    act(server, one, {"type": "dequeue", "opId": queued["opId"]}, "op_dequeued")
    model.wait_for(lambda: model.waiting == 4)
    model.release(4)
    for each in (one, two):
        events = events_until(server, each, lasts[each], "turn_completed")
        turn = next(e["turnId"] for e in events if e["type"] == "turn_started")
        finished = [e for e in events if e["type"] == "answer_finished"]
        assert {e["turnId"] for e in finished} == {turn}
        assert {e["model"] for e in finished} == {A, B}


def test_more_models_are_asked_the_same_and_a_comparison_takes_one_more(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, (one,) = chat(server, model, ("Name a fruit", "Apple."))
    script(model, alpha=Gate(Say("Pear."), after=0), beta=Gate(Say("Plum."), after=0))
    last = server.get(f"sessions/{session}")["lastSeq"]
    op = {"type": "ask_again", "turnId": one, "models": [A, B]}
    act(server, session, op, "answer_started")
    model.wait_for(lambda: model.waiting == 2)
    model.release(2)
    events_until(server, session, last, "answer_finished", times=2)
    turn = newest(server, session)
    assert {a["model"]: a["text"] for a in turn["answers"]} == {A: "Pear.", B: "Plum."}
    assert turn.get("chosenAnswer") is None, "the first one counts until another is chosen"
    assert all(r.body["tool_choice"] == "none" for r in model.requests[1:])

    new_notebook(server.root / "again.ipynb", "price = 12")
    script(model, alpha=BLUE, beta=RED, gamma=[Call("getNotebookCells"), GREEN])
    reply = compare(
        server, A, B, sessionId=session,
        attachments=[{"kind": "notebook", "path": "again.ipynb"}], activeNotebook="again.ipynb",
    )  # fmt: skip
    op = {"type": "ask_again", "turnId": reply["turnId"], "model": C}
    done = act(server, session, op, "answer_finished")
    assert (done["status"], done["text"]) == ("completed", GREEN.text)
    added = newest(server, session)["answers"][-1]
    assert [c["status"] for c in added["toolCalls"]] == ["ok"], "it reads, as the others may"
    assert "Pear." not in requests_of(model, C)[0].text
    assert BLUE.text not in requests_of(model, C)[0].text


def test_a_comparison_that_was_cut_off_says_so_after_a_crash(
    tmp_path: Path, shared_model: ScriptedModelServer
) -> None:
    shared_model.reset()
    with RunningServer(tmp_path, api_base=shared_model.base_url) as server:
        session, _ = chat(server, shared_model, ("One", "1"))
        held = Gate(Say("Never to be read to its end.", chunk=4), after=2)
        script(shared_model, alpha=held, beta=RED, gamma=[Call("listKernels"), held])
        begin(server, session, A, B, C, until="answer_finished")
        shared_model.wait_for(lambda: shared_model.waiting == 2)
        server.kill()
        shared_model.release(2)
        server.start()
        turn = newest(server, session)
        assert turn["status"] == "aborted"
        assert {m: e["status"] for m, e in ended(turn).items()} == {
            A: "stopped", B: "completed", C: "stopped"
        }  # fmt: skip
        assert "server ended" in ended(turn)[A]["message"]
        types = [e["type"] for e in turn["events"]]
        assert types.count("answer_finished") == 3
        (kept,) = turn["answers"]
        assert (kept["model"], turn["chosenAnswer"]) == (B, kept["answerId"])
        script(shared_model, alpha=Say("Fine."))
        server.post("chat", {"message": "Next", "sessionId": session, "model": A})
        assert RED.text in shared_model.requests[-1].text
        assert "Never to be read" not in shared_model.requests[-1].text

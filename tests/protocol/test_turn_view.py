"""A turn folded from its events, and its text for those who can only add to it."""

from __future__ import annotations

import time
from typing import Any

from jupyter_datalayer_agent.protocol.turn_view import (
    BROKEN_OFF,
    WAS_REASONING,
    Call,
    GrowingText,
    TurnView,
)


def delta(item: str, text: str) -> dict[str, Any]:
    return {"type": "text_delta", "itemId": item, "delta": text}


def text_of(*events: dict[str, Any]) -> str:
    view, text = TurnView(), GrowingText()
    return "".join(text.add(part) for event in events for part in view.take(event))


def final(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "final_reply", "text": text, **more}


def test_what_was_streamed_is_not_said_again() -> None:
    said = text_of(delta("a", "Let me "), delta("a", "see."), delta("b", "Done"), final("Done"))
    assert said == "Let me see.\n\nDone"


def test_what_was_not_streamed_is_added() -> None:
    assert text_of(final("All of it")) == "All of it"
    assert text_of(delta("a", "It is [1]"), final("It is [1]\n\nSources")) == "It is [1]\n\nSources"
    assert text_of(delta("a", "One"), final("Stopped.")) == "One\n\nStopped."


def test_a_stream_that_is_retried_is_said_to_be() -> None:
    retried = {"type": "item_discarded", "itemId": "a"}
    again = text_of(delta("a", "Cut o"), retried, delta("b", "Whole"), final("Whole"))
    assert again.startswith(f"Cut o{BROKEN_OFF}")
    assert again.endswith("Whole")
    reasoned = {**retried, "reason": "reasoning"}
    said = text_of(delta("a", "Hm"), reasoned, delta("a", "42"), final("42"))
    assert said.startswith(f"Hm{WAS_REASONING}")
    assert said.endswith("42")
    # Nothing was shown of it.
    assert text_of(retried, final("Whole")) == "Whole"


def test_what_was_not_done_is_said_after_an_answer_that_is_silent_about_it() -> None:
    missed = {"kind": "nothing_done", "message": "Nothing was changed."}
    assert text_of(delta("a", "Done!"), final("Done!", notDone=missed)) == (
        "Done!\n\n**Nothing was changed.**"
    )


def test_facts_and_what_was_not_done_follow_text_that_only_grows_and_frame_a_whole_one() -> None:
    missed = {"kind": "nothing_done", "message": "The change failed."}
    events = [
        {"type": "tool_call_started", "callId": "c", "name": "addNotebookCell"},
        {"type": "tool_call_output", "callId": "c", "name": "addNotebookCell", "status": "error"},
        delta("a", "Done"),
        {"type": "warning", "message": "Cut off."},
        final("Done!", notDone=missed, facts={"message": "Nothing was changed."}),
    ]
    view = TurnView()
    for event in events:
        view.take(event)
    assert [getattr(part, "line", None) or getattr(part, "text", "") for part in view.shown()] == [
        "✗ addNotebookCell",
        "The change failed.",
        "Done!",
        "! Cut off.",
        "Nothing was changed.",
    ]
    assert text_of(*events).endswith(
        "Done\n\n*Cut off.*\n\n!\n\n**The change failed.**\n\n*Nothing was changed.*"
    )


def test_a_question_is_open_until_it_is_settled_by_whomever() -> None:
    view = TurnView()
    view.take({"type": "approval_requested", "approvalId": "1", "name": "x"})
    view.take({"type": "user_input_requested", "requestId": "2", "question": "Which?"})
    view.take({"type": "plan_updated", "steps": [], "state": "paused"})
    assert list(view.questions) == ["approval:1", "input:2", "plan"]
    view.take({"type": "approval_resolved", "approvalId": "1", "decision": "deny"})
    view.take({"type": "tool_call_output", "callId": "c", "name": "askUser", "status": "ok"})
    assert list(view.questions) == ["plan"]
    view.take({"type": "turn_aborted", "reason": "interrupted"})
    assert not view.questions
    assert [part.text for part in view.parts if not isinstance(part, Call)] == [
        "Denied.",
        "Stopped.",
    ]


def test_the_action_of_a_plan_is_not_proposed_once_it_was_run_or_skipped() -> None:
    view = TurnView()
    proposal = {"type": "action_proposed", "proposalId": "p", "title": "Convert"}
    view.take(proposal)
    view.take({"type": "plan_updated", "steps": [], "state": "waiting"})
    assert view.proposal is proposal
    view.take({"type": "plan_updated", "steps": [], "state": "running"})
    assert view.proposal is None
    # The model's own list of steps has no state, and says nothing about it.
    view.take(proposal)
    view.take({"type": "plan_updated", "steps": []})
    assert view.proposal is proposal


def test_the_result_of_an_action_is_said_once() -> None:
    started = {"type": "action_started", "turnId": "t", "title": "Convert"}
    ended = {"type": "action_finished", "turnId": "t", "status": "ok", "output": "Written: a.csv"}
    said = text_of(started, ended, final("Written: a.csv"))
    assert said == "✓ Convert\n\nWritten: a.csv"


def test_text_of_a_many_pieces_is_not_copied_for_each() -> None:
    began = time.process_time()
    view, text = TurnView(), GrowingText()
    piece = "x" * 20
    for _ in range(200_000):
        for part in view.take(delta("a", piece)):
            text.add(part)
    assert len(view.texts[0].text) == 4_000_000
    assert time.process_time() - began < 5

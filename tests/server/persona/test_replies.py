"""What a reply in a chat means. ``tests/jupyter_ai`` has the persona itself, on Jupyter AI."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_datalayer_agent.protocol import ops
from jupyter_datalayer_agent.protocol.mcp import FormAnswer
from jupyter_datalayer_agent.protocol.turn_view import asks
from jupyter_datalayer_agent.server.persona.conversation import answer, how_to_answer, signed

APPROVAL = {"type": "approval_requested", "approvalId": "a"}
PAUSED = {"type": "plan_updated", "state": "paused"}
WAITING = {"type": "plan_updated", "state": "waiting"}
PROPOSAL: dict[str, Any] = {
    "proposalId": "p",
    "complete": True,
    "parameters": [
        {"name": "file", "value": "cars.csv", "found": True},
        {"name": "rows", "found": False},
    ],
}


@pytest.mark.parametrize(
    ("text", "decision", "feedback"),
    [
        ("approve", "approve", None),
        (" Yes! ", "approve", None),
        ("approve all", "approve_for_session", None),
        ("Allow for this chat.", "approve_for_session", None),
        ("deny", "deny", None),
        ("No, use the other file", "deny", "use the other file"),
        ("reject: it is\nmine", "deny", "it is\nmine"),
    ],
)
def test_an_approval_is_given_or_denied(text: str, decision: str, feedback: str | None) -> None:
    op = answer(APPROVAL, text, None)
    assert isinstance(op, ops.ApprovalDecision)
    assert (op.approval_id, op.decision, op.feedback) == ("a", decision, feedback)


@pytest.mark.parametrize(
    "text",
    ["", "approved?", "approve everything from now on", "yes and no", "not now", "nobody", "ja"],
)
def test_what_is_no_clear_answer_approves_nothing(text: str) -> None:
    assert answer(APPROVAL, text, None) is None


def test_a_plan_that_waits_is_decided_on_and_its_action_run_or_skipped() -> None:
    assert answer(PAUSED, "approve", None) == ops.PlanDecision(decision="approve")
    assert answer(PAUSED, "deny", None) == ops.PlanDecision(decision="reject")
    assert answer(PAUSED, "skip", None) is None
    run = answer(WAITING, "run", PROPOSAL)
    assert run == ops.RunAction(proposal_id="p", parameters={"file": "cars.csv"})
    assert answer(WAITING, "run", {**PROPOSAL, "complete": False}) is None
    assert answer(WAITING, "skip", PROPOSAL) == ops.PlanDecision(decision="skip")


def test_a_plan_that_runs_asks_nothing_and_every_text_answers_a_question() -> None:
    assert not asks({"type": "plan_updated", "state": "running"})
    assert not asks({"type": "plan_updated"})
    question = {"type": "user_input_requested", "requestId": "q"}
    assert answer(question, "no", None) == ops.UserInputAnswer(request_id="q", answer="no")


def test_a_form_of_an_mcp_server_is_declined_here_and_filled_in_in_the_panel() -> None:
    form = {"type": "user_input_requested", "requestId": "q", "form": {"server": "fix"}}
    assert how_to_answer(form) == "Answer in the agent's panel, or reply `decline`."
    declined = ops.UserInputAnswer(request_id="q", form=FormAnswer(action="decline"))
    assert answer(form, "Decline.", None) == declined
    assert answer(form, "Ada", None) is None


def test_an_authors_name_comes_after_the_prefix_and_not_in_commands() -> None:
    assert signed("plot it", None) == "plot it"
    assert signed("plot it", "Ada") == "Ada: plot it"
    assert signed("Agent: plot it", "Ada") == "Agent: Ada: plot it"
    assert signed("/data convert", "Ada") == "/data convert"

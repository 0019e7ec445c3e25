"""What a turn asks in a chat, and what a reply in the chat means."""

from __future__ import annotations

import re
from typing import Any

from ...protocol import ops
from ...protocol.forms import FormAnswer

_APPROVE = re.compile(r"(approve|approved|allow|yes|y|ok|run)[.!]?", re.IGNORECASE)
_APPROVE_ALL = re.compile(
    r"(approve|allow) (all|always|for (the|this) (session|chat))[.!]?|always[.!]?", re.IGNORECASE
)
_DENY = re.compile(r"(deny|denied|reject|no|n|stop)\b[\s,.:!-]*(.*)", re.IGNORECASE | re.DOTALL)
_DECLINE = re.compile(r"(decline|deny|no|n|stop)[.!]?", re.IGNORECASE)
_SKIP = re.compile(r"skip[.!]?", re.IGNORECASE)

HOW_APPROVAL = (
    "Reply `approve`, `approve all` (for this chat) or `deny`, with a reason if you like."
)
HOW_PLAN = "Reply `approve` or `deny`."
HOW_FORM = "Answer in the agent's panel, or reply `decline`."
HOW_ACTION = "Reply `run`, `skip` or `deny`."


def how_to_answer(event: dict[str, Any]) -> str:
    """What may be replied, as a sentence."""
    if event["type"] == "approval_requested":
        return HOW_APPROVAL
    if event.get("form") is not None:
        return HOW_FORM
    if event["type"] == "user_input_requested":
        options = event.get("options") or []
        return f"Reply with {', '.join(options)}." if options else "Reply with your answer."
    return HOW_ACTION if event["state"] == "waiting" else HOW_PLAN


def run_parameters(proposal: dict[str, Any]) -> dict[str, Any]:
    """The values that a proposed action has."""
    return {each["name"]: each["value"] for each in proposal["parameters"] if each["found"]}


def is_yes(text: str) -> bool:
    """Whether a reply agrees."""
    return _APPROVE.fullmatch(text.strip()) is not None


def answer(event: dict[str, Any], text: str, proposal: dict[str, Any] | None) -> ops.Op | None:
    """The op that a reply is, None for one that is no answer. ``proposal`` is the action that a
    plan waits for."""
    text = text.strip()
    if event.get("form") is not None:
        declined = FormAnswer(action="decline")
        is_declined = _DECLINE.fullmatch(text) is not None
        return (
            ops.UserInputAnswer(request_id=event["requestId"], form=declined)
            if is_declined
            else None
        )
    if event["type"] == "user_input_requested":
        return ops.UserInputAnswer(request_id=event["requestId"], answer=text)
    denied = _DENY.fullmatch(text)
    if event["type"] == "approval_requested":
        approval_id = event["approvalId"]
        if _APPROVE_ALL.fullmatch(text):
            return ops.ApprovalDecision(approval_id=approval_id, decision="approve_for_session")
        if is_yes(text):
            return ops.ApprovalDecision(approval_id=approval_id, decision="approve")
        if denied is not None:
            return ops.ApprovalDecision(
                approval_id=approval_id, decision="deny", feedback=denied[2].strip() or None
            )
        return None
    if denied is not None:
        return ops.PlanDecision(decision="reject")
    if event["state"] == "waiting":
        if _SKIP.fullmatch(text):
            return ops.PlanDecision(decision="skip")
        if is_yes(text) and proposal is not None and proposal["complete"]:
            return ops.RunAction(
                proposal_id=proposal["proposalId"], parameters=run_parameters(proposal)
            )
        return None
    return ops.PlanDecision(decision="approve") if is_yes(text) else None

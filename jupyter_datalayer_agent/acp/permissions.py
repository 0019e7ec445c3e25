"""What a turn asks its user, as permission requests of the client."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import acp
from acp.schema import AllowedOutcome, PermissionOption, ToolCallUpdate

from ..protocol.approval_text import approval_parts, visible
from .tool_calls import Content, code_content, diffs, text_content

ONCE, SESSION, REJECT, SKIP = "allow_once", "allow_session", "reject", "skip"
APPROVAL = [
    PermissionOption(option_id=ONCE, name="Allow once", kind="allow_once"),
    PermissionOption(option_id=SESSION, name="Allow for this session", kind="allow_always"),
    PermissionOption(option_id=REJECT, name="Reject", kind="reject_once"),
]
DECISIONS = {ONCE: "approve", SESSION: "approve_for_session"}
NO_ANSWER = "no_answer"
NO_FREE_TEXT = (
    "The user's editor shows no question in the middle of a task. Ask it as your answer, and end "
    "there: the user replies with the next message."
)
NONE_OF_THESE = "None of these"
NOT_ANSWERED = "The user did not answer. Decide with what you know, and say what you assumed."
IN_THE_PANEL = "It needs values that your editor cannot ask for. Run it in the agent's panel."
NOT_ASKED = "The editor could not ask the user."


def can_run(proposal: dict[str, Any]) -> bool:
    """Whether all is known that the action needs, and no secret is to be typed."""
    needs_secret = any(each["secret"] and each["required"] for each in proposal["parameters"])
    return bool(proposal["complete"]) and not needs_secret


def values_of(proposal: dict[str, Any]) -> dict[str, Any]:
    """The values that a proposed action has."""
    return {each["name"]: each["value"] for each in proposal["parameters"] if each["found"]}


def _proposal_lines(proposal: dict[str, Any]) -> list[str]:
    found = [each for each in proposal["parameters"] if each["found"]]
    lines = [f"{each['title']}: {each.get('display') or each['value']}" for each in found]
    return [*lines, proposal["destroys"]] if proposal.get("destroys") else lines


class Permissions:
    """Asks the user of one session. A client that cannot ask, or goes away, rejects."""

    def __init__(self, client: acp.Client, session_id: str, root: Path) -> None:
        self._client = client
        self._session_id = session_id
        self._root = root
        self.proposal: dict[str, Any] | None = None
        """The action that a plan waits for."""

    async def decide(self, event: dict[str, Any]) -> dict[str, Any]:
        """The op that answers an event that asks."""
        if event["type"] == "approval_requested":
            return await self._approval(event)
        if event["type"] == "user_input_requested":
            return await self._question(event)
        return await self._plan(event)

    async def run_action(self, proposal: dict[str, Any]) -> bool:
        """Whether the user wants to run the action of a complete proposal."""
        lines = _proposal_lines(proposal)
        chosen = await self._ask(
            f"proposal:{proposal['proposalId']}",
            f"Run “{proposal['title']}”",
            [
                PermissionOption(option_id=ONCE, name="Run", kind="allow_once"),
                PermissionOption(option_id=REJECT, name="Do not run", kind="reject_once"),
            ],
            content=[text_content("\n".join(lines))] if lines else [],
        )
        return chosen == ONCE

    async def _approval(self, event: dict[str, Any]) -> dict[str, Any]:
        content: list[Content] = [*diffs(event.get("changes") or (), self._root)]
        for part in approval_parts({**event, "changes": ()}) if not content else ():
            content += [text_content(part.heading)] if part.heading else []
            content.append(code_content(part.text))
        chosen = await self._ask(
            event["callId"] or event["approvalId"],
            visible(event["reason"]),
            APPROVAL,
            content=content,
            raw_input=event["arguments"],
        )
        op = {"type": "approval_decision", "approvalId": event["approvalId"]}
        if chosen is None:
            return {**op, "decision": "deny", "unanswered": NOT_ASKED}
        return {**op, "decision": DECISIONS.get(chosen, "deny")}

    async def _question(self, event: dict[str, Any]) -> dict[str, Any]:
        op = {"type": "user_input_answer", "requestId": event["requestId"]}
        answers = event.get("options") or []
        if not answers:
            return {**op, "unanswered": NO_FREE_TEXT}
        options = [
            PermissionOption(option_id=str(number), name=answer, kind="allow_once")
            for number, answer in enumerate(answers)
        ]
        options.append(
            PermissionOption(option_id=NO_ANSWER, name=NONE_OF_THESE, kind="reject_once")
        )
        chosen = await self._ask(event["requestId"], event["question"], options)
        if chosen is None:
            return {**op, "unanswered": NOT_ANSWERED}
        given = chosen.isdecimal() and int(chosen) < len(answers)
        return {**op, "answer": answers[int(chosen)] if given else NONE_OF_THESE}

    async def _plan_action(self, proposal: dict[str, Any]) -> dict[str, Any]:
        """The plan waits for its action, which can be run here where the form asks nothing."""
        options = [
            PermissionOption(option_id=SKIP, name="Skip it", kind="reject_once"),
            PermissionOption(option_id=REJECT, name="Stop the plan", kind="reject_once"),
        ]
        lines = _proposal_lines(proposal)
        if can_run(proposal):
            options.insert(0, PermissionOption(option_id=ONCE, name="Run", kind="allow_once"))
        else:
            lines.append(IN_THE_PANEL)
        chosen = await self._ask(
            f"proposal:{proposal['proposalId']}",
            f"Run “{proposal['title']}”",
            options,
            content=[text_content("\n".join(lines))],
        )
        if chosen == ONCE:
            run = {"type": "run_action", "proposalId": proposal["proposalId"]}
            return {**run, "parameters": values_of(proposal)}
        return {"type": "plan_decision", "decision": "skip" if chosen == SKIP else "reject"}

    async def _plan(self, event: dict[str, Any]) -> dict[str, Any]:
        if event["state"] == "waiting" and self.proposal is not None:
            return await self._plan_action(self.proposal)
        steps = [
            f"{number}. {step['description']}" for number, step in enumerate(event["steps"], 1)
        ]
        chosen = await self._ask(
            f"plan:{event['turnId']}",
            "Go on with this plan" if event["state"] == "paused" else "Run this plan",
            [
                PermissionOption(option_id=ONCE, name="Run", kind="allow_once"),
                PermissionOption(option_id=REJECT, name="Reject", kind="reject_once"),
            ],
            content=[text_content("\n".join(steps))],
        )
        return {"type": "plan_decision", "decision": "approve" if chosen == ONCE else "reject"}

    async def _ask(
        self,
        call_id: str,
        title: str,
        options: list[PermissionOption],
        *,
        content: Sequence[Content] = (),
        raw_input: Any = None,
    ) -> str | None:
        """The id of the option that was chosen, None where none was."""
        given: dict[str, Any] = {"content": list(content)} if content else {}
        if isinstance(raw_input, dict) and len(json.dumps(raw_input)) < 20_000:
            given["raw_input"] = raw_input
        try:
            answer = await self._client.request_permission(
                session_id=self._session_id,
                tool_call=ToolCallUpdate(
                    tool_call_id=call_id, title=title, status="pending", **given
                ),
                options=options,
            )
        except (acp.RequestError, ConnectionError):
            return None
        outcome = answer.outcome
        return outcome.option_id if isinstance(outcome, AllowedOutcome) else None

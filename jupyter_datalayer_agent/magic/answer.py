"""A turn's answer, assembled from its events, as Markdown and as plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from ..protocol.code_text import plain_code
from ..protocol.fences import fences
from .untrusted import escaped, safe

MARKS = {"ok": "✓", "error": "✗", "denied": "✗", "aborted": "◼", "running": "…"}
STEP_MARKS = {"completed": "✓", "failed": "✗", "in_progress": "▸", "pending": "·"}
LONGEST_LINE = 200
_ID = re.compile(r"[\w-]+")
_LANGUAGE = re.compile(r"\w*")


@dataclass
class Text:
    """A part of the answer that the model wrote."""

    item_id: str
    text: str = ""


@dataclass
class Step:
    """A tool call with a one-line result."""

    call_id: str
    name: str
    status: str = "running"
    summary: str = ""


@dataclass
class Note:
    """Any other line for the user."""

    text: str


@dataclass
class Missed(Note):
    """The notice above the answer: something was not done."""


@dataclass
class Answer:
    """The turn so far; ``take`` each event in order.

    ``session_id`` is where what waits is decided; without ``tells_error`` another one reports it.
    """

    session_id: str = ""
    shows_error: bool = True
    parts: list[Text | Step | Note] = field(default_factory=list)
    plan: list[dict[str, Any]] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    status: Literal["running", "completed", "aborted"] = "running"
    turn_id: str = ""
    reply: str = ""
    doing: str = ""
    waits_for: str = ""
    proposed: str = ""
    error: str = ""
    reason: str = ""
    changes: list[dict[str, Any]] = field(default_factory=list)

    def take(self, event: dict[str, Any]) -> None:
        """Apply the next event."""
        kind = event["type"]
        handle = getattr(self, f"_on_{kind}", None)
        self.turn_id = event.get("turnId") or self.turn_id
        if handle is not None:
            handle(event)

    @property
    def ended(self) -> bool:
        """Whether the turn is over."""
        return self.status != "running"

    @property
    def steps(self) -> list[Step]:
        """The tool calls."""
        return [part for part in self.parts if isinstance(part, Step)]

    def give_up(self, reason: str) -> None:
        """The connection to the turn was lost."""
        self.status = "aborted"
        self.doing = self.waits_for = ""
        self.error = reason

    def _on_text_delta(self, event: dict[str, Any]) -> None:
        self.doing = ""
        last = self.parts[-1] if self.parts else None
        if not (isinstance(last, Text) and last.item_id == event["itemId"]):
            last = Text(event["itemId"])
            self.parts.append(last)
        last.text += event["delta"]

    def _on_item_discarded(self, event: dict[str, Any]) -> None:
        gone = event["itemId"]
        self.parts = [
            part for part in self.parts if not (isinstance(part, Text) and part.item_id == gone)
        ]

    def _on_tool_call_started(self, event: dict[str, Any]) -> None:
        self.parts.append(Step(event["callId"], event["name"]))
        self.doing = ""

    def _on_tool_call_output(self, event: dict[str, Any]) -> None:
        self.waits_for = ""
        for step in self.steps:
            if step.call_id == event["callId"]:
                step.status = event["status"]
                step.summary = event.get("summary") or ""

    def _on_status(self, event: dict[str, Any]) -> None:
        self.doing = event["message"]

    def _on_plan_updated(self, event: dict[str, Any]) -> None:
        self.plan = event["steps"]
        self.tools = event.get("requiredTools") or []
        state = event.get("state")
        self.waits_for = ""
        if state == "waiting" and self.proposed:
            self.waits_for = f"The plan waits for you. {self.proposed}"
        elif state in ("proposed", "paused", "waiting"):
            self.waits_for = "The plan waits for you in the agent's panel."
        elif state == "running":
            # It was the plan's action: run, or skipped.
            self.proposed = ""

    def _on_approval_requested(self, event: dict[str, Any]) -> None:
        what = f"{event['name']} ({event['reason']})" if event.get("reason") else event["name"]
        self.waits_for = f"{what} waits for your approval in the agent's panel."

    def _on_user_input_requested(self, event: dict[str, Any]) -> None:
        who = f"The MCP server {form['server']} asks: " if (form := event.get("form")) else ""
        self.waits_for = f"{who}{event['question']} (Answer in the agent's panel.)"

    def _on_user_input_resolved(self, event: dict[str, Any]) -> None:
        self.waits_for = ""

    def _on_approval_resolved(self, event: dict[str, Any]) -> None:
        self.waits_for = ""
        if event["decision"] == "expired":
            self.parts.append(Note("It was not approved in time."))

    def _on_document_changed(self, event: dict[str, Any]) -> None:
        self.changes += event["changes"]

    def _on_warning(self, event: dict[str, Any]) -> None:
        self.parts.append(Note(event["message"]))

    def _on_workflows_offered(self, event: dict[str, Any]) -> None:
        self.reply = event["message"]
        self.parts.append(Text("offers", event["message"]))

    def _on_action_proposed(self, event: dict[str, Any]) -> None:
        self.proposed = f"Run “{event['title']}” in the agent's panel."

    def _on_error(self, event: dict[str, Any]) -> None:
        self.error = event["message"]

    def _on_final_reply(self, event: dict[str, Any]) -> None:
        self.reply = event["text"]
        texts = [part for part in self.parts if isinstance(part, Text) and part.text.strip()]
        last = texts[-1].text.strip() if texts else ""
        reply = self.reply.strip()
        if reply and reply not in (last, "".join(part.text for part in texts).strip()):
            # The summary of a plan follows the model's last text, which is kept.
            more = reply.removeprefix(f"{last}\n").strip() if last else reply
            texts.append(Text("reply", more))
            self.parts.append(texts[-1])
        if (missed := event.get("notDone")) is not None:
            place = self.parts.index(texts[-1]) if texts else len(self.parts)
            self.parts.insert(place, Missed(missed["message"]))
        if (facts := event.get("facts")) is not None:
            self.parts.append(Note(facts["message"]))

    def _on_turn_completed(self, event: dict[str, Any]) -> None:
        self.status = "completed"
        self.doing = self.waits_for = ""

    def _on_turn_aborted(self, event: dict[str, Any]) -> None:
        self.status = "aborted"
        self.reason = event["reason"]
        self.doing = self.waits_for = ""
        if event["reason"] == "interrupted":
            self.parts.append(Note("Stopped."))

    def markdown(self) -> str:
        """Everything as Markdown, with folded tool calls; readable without HTML support."""
        pieces = [_plan_markdown(self.plan)] if self.plan else []
        pieces += [escaped(self._needs())] if self.tools else []
        steps: list[Step] = []
        for part in self.parts:
            if isinstance(part, Step):
                steps.append(part)
                continue
            if steps:
                pieces.append(_steps_markdown(steps))
                steps = []
            if isinstance(part, Note):
                mark = "**" if isinstance(part, Missed) else "*"
                pieces.append(f"{mark}{escaped(_line(part.text))}{mark}")
            elif part.text.strip():
                pieces.append(_closed(safe(part.text.strip())))
        if steps:
            pieces.append(_steps_markdown(steps))
        if self.problem:
            pieces.append(f"**{escaped(_line(self.problem))}**")
        if not self.ended:
            pieces.append(self.now_markdown())
        elif self.proposed:
            pieces.append(self._linked(self.proposed))
        return "\n\n".join(pieces) or self._nothing()

    def plain(self) -> str:
        """The same as plain text."""
        pieces = [f"{STEP_MARKS.get(s['status'], '·')} {s['description']}" for s in self.plan]
        pieces += [self._needs()] if self.tools else []
        for part in self.parts:
            if isinstance(part, Step):
                pieces.append(f"{MARKS.get(part.status, '·')} {part.summary or part.name}")
            elif part.text.strip():
                pieces.append(part.text.strip())
        pieces += [self.problem] if self.problem else []
        pieces += [self.proposed or ""] if self.ended else [self.now()]
        return "\n".join(filter(None, pieces)) or self._nothing()

    def _needs(self) -> str:
        return f"Tools: {', '.join(self.tools)}"

    @property
    def missed(self) -> str:
        """The notice above the answer."""
        return next((part.text for part in self.parts if isinstance(part, Missed)), "")

    @property
    def problem(self) -> str:
        """The error, if it is shown here."""
        return self.error if self.shows_error else ""

    def _nothing(self) -> str:
        return "Not answered." if self.error else ""

    def now(self) -> str:
        """The current activity as text."""
        if self.waits_for:
            return self.waits_for
        running = [step.name for step in self.steps if step.status == "running"]
        return self.doing or (f"{running[-1]}…" if running else "Working…")

    def now_markdown(self) -> str:
        """The same as Markdown; a waiting request has a link that opens it in the panel."""
        return self._linked(self.now()) if self.waits_for else _aside(self.now())

    def _linked(self, text: str) -> str:
        if not _ID.fullmatch(self.session_id):
            return _aside(text)
        return f"{_aside(text)} [Open it there](#session-{self.session_id})"

    def text(self) -> str:
        """The model's text, without its tool calls."""
        texts = (part.text.strip() for part in self.parts if isinstance(part, Text))
        return self.reply.strip() or "\n\n".join(filter(None, texts))

    def code(self) -> str:
        """The code blocks of its text, or all of it without any."""
        text = self.text()
        blocks = [plain_code(each.code.rstrip("\n")) for each in fences(text) if each.is_closed]
        return "\n\n".join(blocks) if blocks else text

    def language(self) -> str:
        """The language of the first code block, as the model named it."""
        first = next(fences(self.text()), None)
        named = first is not None and first.is_closed and _LANGUAGE.match(first.info)
        return named[0] if named else ""


def _steps_markdown(steps: list[Step]) -> str:
    failed = sum(step.status in ("error", "denied") for step in steps)
    count = f"{len(steps)} step{'s' if len(steps) > 1 else ''}"
    lines = "\n".join(
        f"<li>{MARKS.get(step.status, '·')} <code>{escaped(step.name)}</code> "
        f"{escaped(_line(step.summary))}</li>"
        for step in steps
    )
    summary = f"{count}, {failed} failed" if failed else count
    return f"<details><summary>{summary}</summary>\n<ul>\n{lines}\n</ul>\n</details>"


def _plan_markdown(plan: list[dict[str, Any]]) -> str:
    return "\n".join(
        f"{number}. {STEP_MARKS.get(step['status'], '·')} {escaped(_line(step['description']))}"
        for number, step in enumerate(plan, 1)
    )


def _aside(text: str) -> str:
    return f"*{escaped(_line(text))}*"


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"


def _closed(text: str) -> str:
    """Markdown with its last code block closed, so that nothing after it becomes part of it."""
    fence: str | None = None
    for line in text.splitlines():
        mark = re.match(r"\s{0,3}(`{3,}|~{3,})", line)
        if mark is None:
            continue
        if fence is None:
            fence = mark[1]
        elif mark[1].startswith(fence):
            fence = None
    return text if fence is None else f"{text}\n{fence}"

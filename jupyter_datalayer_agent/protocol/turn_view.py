"""A turn as its user sees it, folded from its events.

The ``%agent`` magic, the command line, the chat of Jupyter AI, ACP and the exports all render from
it. Events are taken as they are on the wire: dictionaries with camelCase keys. Only the standard
library is imported, since the magic runs in the user's kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

ENDS = ("turn_completed", "turn_aborted")
"""The types of a turn's last event."""

PLAN_WAITS = ("proposed", "paused", "waiting")
"""States in which a plan waits for the user (see ``PlanState``)."""

MARKS = {"ok": "✓", "error": "✗", "denied": "–", "aborted": "–", "cancelled": "–", "running": "…"}
"""The mark of a call by its status."""

STOPPED = {
    "interrupted": "Stopped.",
    "replaced": "Stopped.",
    "shutdown": "The server ended. What was done is kept.",
}
DECIDED = {
    "approve": "Approved",
    "approve_for_session": "Approved for this session",
    "deny": "Denied",
    "expired": "Nobody answered in time: denied",
}
FORM_ENDS = {"accept": "Answered.", "decline": "Declined to answer.", "cancel": "Not answered."}


@dataclass
class Text:
    """An answer, or a piece of one. ``taken_back`` says why it no longer counts: its stream was
    tried again, or it was the model's reasoning."""

    item_id: str
    pieces: list[str] = field(default_factory=list)
    taken_back: Literal["", "retried", "reasoning"] = ""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass
class Call:
    """A tool call, or an action of a service, with what it did in one line."""

    call_id: str
    name: str
    status: str = "running"
    summary: str = ""

    @property
    def mark(self) -> str:
        return MARKS.get(self.status, "·")

    @property
    def line(self) -> str:
        return f"{self.mark} {self.summary or self.name}"


NoteKind = Literal[
    "not_done", "facts", "warning", "error", "step", "step_failed", "recovery", "recovered",
    "decided", "stopped",
]  # fmt: skip


@dataclass
class Note:
    """A line that is neither the model's nor a call's. ``not_done`` contradicts an answer that is
    silent about it, ``facts`` say what the turn did."""

    kind: NoteKind
    text: str
    mark: str = ""

    @property
    def line(self) -> str:
        return f"{self.mark} {self.text}".lstrip()


Part = Text | Call | Note


def asks(event: dict[str, Any]) -> bool:
    """Whether the turn waits for the user's answer to this event."""
    if event["type"] == "plan_updated":
        return event.get("state") in PLAN_WAITS
    return event["type"] in ("approval_requested", "user_input_requested")


@dataclass
class TurnView:
    """A turn so far. Give ``take`` each of its events in order.

    ``parts`` are in the order in which they came. ``plan`` has the steps as on the wire,
    ``required_tools`` what the plan needs. ``questions`` are the events that wait for the user, by
    a key that stays the same until the question is settled. ``proposal`` is the event of the action
    that was proposed and not yet run. ``activity`` is what the turn does now, "" where nothing is
    known. ``answers`` are the ends of a comparison's answers, by model. ``error`` and ``reason``
    say why it failed or ended early.
    """

    turn_id: str = ""
    status: Literal["running", "completed", "aborted"] = "running"
    parts: list[Part] = field(default_factory=list)
    plan: list[dict[str, Any]] = field(default_factory=list)
    required_tools: list[str] = field(default_factory=list)
    questions: dict[str, dict[str, Any]] = field(default_factory=dict)
    proposal: dict[str, Any] | None = None
    activity: str = ""
    reply: str = ""
    offers: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    reason: str = ""
    decided_by: str | None = None
    """Who answered the last question, where several people can."""

    def take(self, event: dict[str, Any]) -> list[Part]:
        """Apply the next event; the parts that it added or changed."""
        self.turn_id = event.get("turnId") or self.turn_id
        apply = getattr(self, f"_on_{event['type']}", None)
        return list(apply(event) or ()) if apply is not None else []

    @property
    def ended(self) -> bool:
        """Whether the turn is over."""
        return self.status != "running"

    @property
    def texts(self) -> list[Text]:
        """What the model wrote and that counts."""
        return [
            part
            for part in self.parts
            if isinstance(part, Text) and not part.taken_back and part.text.strip()
        ]

    @property
    def calls(self) -> list[Call]:
        """The tool calls and actions."""
        return [part for part in self.parts if isinstance(part, Call)]

    def shown(self) -> list[Part]:
        """The parts that count, for a reader who sees the whole: what was not done is said before
        the answer that may be silent about it."""
        counting = {id(each) for each in self.texts}
        parts = [part for part in self.parts if not isinstance(part, Text) or id(part) in counting]
        for note in [part for part in parts if isinstance(part, Note) and part.kind == "not_done"]:
            parts.remove(note)
            texts = [place for place, part in enumerate(parts) if isinstance(part, Text)]
            parts.insert(texts[-1] if texts else len(parts), note)
        return parts

    # -- the model's text ------------------------------------------------------------------------

    def _on_text_delta(self, event: dict[str, Any]) -> list[Part]:
        self.activity = ""
        text = self._text(event["itemId"])
        if text is None:
            text = self._add(Text(event["itemId"]))
        text.pieces.append(event["delta"])
        return [text]

    def _on_item_discarded(self, event: dict[str, Any]) -> list[Part]:
        text = self._text(event["itemId"])
        if text is None:
            return []
        text.taken_back = "reasoning" if event.get("reason") == "reasoning" else "retried"
        return [text]

    def _on_final_reply(self, event: dict[str, Any]) -> list[Part]:
        self.reply = event["text"]
        added = self._rest_of(event["text"].strip())
        if (not_done := event.get("notDone")) is not None:
            added.append(self._add(Note("not_done", not_done["message"])))
        if (facts := event.get("facts")) is not None:
            added.append(self._add(Note("facts", facts["message"])))
        return added

    def _rest_of(self, reply: str) -> list[Part]:
        """Add what the whole answer has and the streamed texts do not."""
        texts = self.texts
        if not reply or reply == "".join(part.text for part in texts).strip():
            return []
        said = texts[-1].text.strip() if texts else ""
        if not said or not reply.startswith(said):
            return [self._add(Text("reply", [reply]))]
        # A plan's summary, or the sources, follow what was streamed.
        rest = reply[len(said) :]
        if not rest:
            return []
        texts[-1].pieces.append(rest)
        return [texts[-1]]

    def _on_workflows_offered(self, event: dict[str, Any]) -> list[Part]:
        self.offers = event["offers"]
        self.reply = event["message"]
        return [self._add(Text("offers", [event["message"]]))]

    def _on_actions_offered(self, event: dict[str, Any]) -> list[Part]:
        # An answer that follows begins with it.
        offers = [f"- {each['title']}: `{each['message']}`" for each in event["offers"]]
        self.reply = "\n".join([event["text"], *offers])
        return [self._add(Text("actions", [self.reply]))]

    def _on_answer_finished(self, event: dict[str, Any]) -> list[Part]:
        self.answers[event["model"]] = event
        if not event.get("text"):
            return []
        text = f"**{event['model']}**\n\n{event['text']}"
        return [self._add(Text(event["answerId"], [text]))]

    # -- calls, actions and steps ----------------------------------------------------------------

    def _on_tool_call_started(self, event: dict[str, Any]) -> list[Part]:
        self.activity = ""
        return [self._add(Call(event["callId"], event["name"]))]

    def _on_tool_call_output(self, event: dict[str, Any]) -> list[Part]:
        if event["name"] == "askUser":
            for key, each in list(self.questions.items()):
                if each["type"] == "user_input_requested" and each.get("form") is None:
                    del self.questions[key]
        return [self._finished(event["callId"], event["name"], event)]

    def _on_action_started(self, event: dict[str, Any]) -> list[Part]:
        self.proposal = None
        return [self._add(Call(f"action:{event['turnId']}", event["title"]))]

    def _on_action_progress(self, event: dict[str, Any]) -> None:
        fraction = event.get("fraction")
        share = "" if fraction is None else f" {fraction:.0%}"
        self.activity = f"{event['message']}{share}"

    def _on_action_finished(self, event: dict[str, Any]) -> list[Part]:
        key = f"action:{event['turnId']}"
        done = {"status": event["status"], "summary": event.get("error")}
        parts: list[Part] = [self._finished(key, "", done)]
        if event.get("output"):
            parts.append(self._add(Text(key, [event["output"]])))
        return parts

    def _on_step_started(self, event: dict[str, Any]) -> list[Part]:
        number = f"Step {event['index'] + 1} of {event['total']}"
        return [self._add(Note("step", f"{number}: {event['description']}"))]

    def _on_step_finished(self, event: dict[str, Any]) -> list[Part]:
        if event["success"]:
            return []
        return [self._add(Note("step_failed", event["message"], "✗"))]

    def _on_recovery_started(self, event: dict[str, Any]) -> list[Part]:
        text = f"Fixing, attempt {event['attempt']}: {event['error']}"
        return [self._add(Note("recovery", text, "↻"))]

    def _on_recovery_finished(self, event: dict[str, Any]) -> list[Part]:
        return [self._add(Note("recovered", event["message"]))]

    def _on_document_changed(self, event: dict[str, Any]) -> None:
        self.changes += event["changes"]

    # -- what waits for the user -----------------------------------------------------------------

    def _on_plan_updated(self, event: dict[str, Any]) -> None:
        self.plan = event["steps"]
        self.required_tools = event.get("requiredTools") or []
        self.questions.pop("plan", None)
        if event.get("state") not in (None, "waiting"):
            self.proposal = None  # it was a step's: run, or skipped
        if asks(event):
            self._ask("plan", event)

    def _on_approval_requested(self, event: dict[str, Any]) -> None:
        self._ask(f"approval:{event['approvalId']}", event)

    def _on_approval_resolved(self, event: dict[str, Any]) -> list[Part]:
        self.questions.pop(f"approval:{event['approvalId']}", None)
        decided = DECIDED.get(event["decision"])
        by = f" by {self.decided_by}" if self.decided_by else ""
        return [self._add(Note("decided", f"{decided}{by}."))] if decided else []

    def _on_user_input_requested(self, event: dict[str, Any]) -> None:
        self._ask(f"input:{event['requestId']}", event)

    def _on_user_input_resolved(self, event: dict[str, Any]) -> list[Part]:
        self.questions.pop(f"input:{event['requestId']}", None)
        return [self._add(Note("decided", FORM_ENDS[event["action"]]))]

    def _on_action_proposed(self, event: dict[str, Any]) -> None:
        self.proposal = event

    # -- the rest --------------------------------------------------------------------------------

    def _on_status(self, event: dict[str, Any]) -> None:
        self.activity = event["message"]

    def _on_token_usage(self, event: dict[str, Any]) -> None:
        self.usage = event["usage"]

    def _on_warning(self, event: dict[str, Any]) -> list[Part]:
        return [self._add(Note("warning", event["message"], "!"))]

    def _on_error(self, event: dict[str, Any]) -> list[Part]:
        self.error = event["message"]
        return [self._add(Note("error", event["message"], "✗"))]

    def _on_turn_completed(self, event: dict[str, Any]) -> None:
        self._end("completed")

    def _on_turn_aborted(self, event: dict[str, Any]) -> list[Part]:
        self._end("aborted")
        self.reason = event["reason"]
        said = STOPPED.get(event["reason"])
        return [self._add(Note("stopped", said))] if said else []

    def _end(self, status: Literal["completed", "aborted"]) -> None:
        self.status = status
        self.activity = ""
        self.questions.clear()

    def _ask(self, key: str, event: dict[str, Any]) -> None:
        self.questions[key] = event
        self.decided_by = None

    def _finished(self, call_id: str, name: str, end: dict[str, Any]) -> Call:
        call = next((each for each in self.calls if each.call_id == call_id), None)
        if call is None:
            call = self._add(Call(call_id, name))
        call.status, call.summary = end["status"], end.get("summary") or ""
        return call

    def _text(self, item_id: str) -> Text | None:
        """The text of an item that counts."""
        for part in reversed(self.parts):
            if isinstance(part, Text) and part.item_id == item_id:
                return None if part.taken_back else part
        return None

    def _add(self, part: Any) -> Any:
        self.parts.append(part)
        return part


BROKEN_OFF = "\n\n*(This answer broke off and begins anew.)*\n\n"
WAS_REASONING = "\n\n*(So far this was the model's reasoning. Its answer follows.)*\n\n"
BOLD: tuple[NoteKind, ...] = ("not_done", "step")
MARKED: tuple[NoteKind, ...] = ("error", "step_failed", "recovery")


class GrowingText:
    """The parts of a turn as Markdown that only grows, for those who cannot take back what they
    showed. Give ``add`` each part when ``TurnView.take`` returns it."""

    def __init__(self) -> None:
        self._written: dict[int, int] = {}
        self._last: Part | None = None
        self._has_text = False

    def add(self, part: Part) -> str:
        """What the part adds, with a blank line before a new paragraph."""
        follows, self._last = part is self._last, part
        if isinstance(part, Text):
            return self._text(part, follows)
        if isinstance(part, Call):
            return self.paragraph(part.line) if part.status != "running" else ""
        if part.kind in MARKED:
            return self.paragraph(part.line)
        emphasis = "**" if part.kind in BOLD else "*"
        return self.paragraph(f"{emphasis}{part.text}{emphasis}")

    def paragraph(self, text: str) -> str:
        """The text as a paragraph of its own, after what there is."""
        apart = "\n\n" if self._has_text else ""
        self._has_text = True
        return f"{apart}{text}"

    def _text(self, part: Text, follows: bool) -> str:
        written = self._written.get(id(part), 0)
        if part.taken_back:
            note = WAS_REASONING if part.taken_back == "reasoning" else BROKEN_OFF
            return note if written else ""
        new = "".join(part.pieces[written:])
        self._written[id(part)] = len(part.pieces)
        return new if follows else self.paragraph(new)

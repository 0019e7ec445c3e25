"""A turn's answer as Markdown and as plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..protocol.code_text import plain_code
from ..protocol.fences import fences
from ..protocol.turn_view import Call, Note, NoteKind, Text, TurnView
from .untrusted import escaped, safe

STEP_MARKS = {"completed": "✓", "failed": "✗", "in_progress": "▸", "pending": "·"}
NOTES: tuple[NoteKind, ...] = ("not_done", "facts", "warning", "decided", "stopped")
"""The notes that are shown: the plan has its steps, and an error its own place."""
LONGEST_LINE = 200
_ID = re.compile(r"[\w-]+")
_LANGUAGE = re.compile(r"\w*")


@dataclass
class Answer(TurnView):
    """The turn so far. ``session_id`` is where what waits is decided; without ``shows_error``
    another one reports the error."""

    session_id: str = ""
    shows_error: bool = True

    def give_up(self, reason: str) -> None:
        """The connection to the turn was lost."""
        self._end("aborted")
        self.error = reason

    def shown(self) -> list[Text | Call | Note]:
        return [
            part for part in super().shown() if not isinstance(part, Note) or part.kind in NOTES
        ]

    @property
    def waits_for(self) -> str:
        """What the user has to decide before the turn goes on; "" if nothing."""
        return next((self._wait(event) for event in self.questions.values()), "")

    def _wait(self, event: dict[str, Any]) -> str:
        if event["type"] == "approval_requested":
            reason = f" ({event['reason']})" if event.get("reason") else ""
            return f"{event['name']}{reason} waits for your approval in the agent's panel."
        if event["type"] == "user_input_requested":
            form = event.get("form")
            who = f"The MCP server {form['server']} asks: " if form else ""
            return f"{who}{event['question']} (Answer in the agent's panel.)"
        if event["state"] == "waiting" and self.proposal is not None:
            return f"The plan waits for you. {self.proposed}"
        return "The plan waits for you in the agent's panel."

    @property
    def proposed(self) -> str:
        """How to run the action that was proposed; "" if none was."""
        if self.proposal is None:
            return ""
        return f"Run “{self.proposal['title']}” in the agent's panel."

    def markdown(self) -> str:
        """Everything as Markdown, with folded tool calls; readable without HTML support."""
        pieces = [_plan_markdown(self.plan)] if self.plan else []
        pieces += [escaped(self._needs())] if self.required_tools else []
        calls: list[Call] = []
        for part in [*self.shown(), None]:
            if isinstance(part, Call):
                calls.append(part)
                continue
            if calls:
                pieces.append(_calls_markdown(calls))
                calls = []
            if isinstance(part, Note):
                mark = "**" if part.kind == "not_done" else "*"
                pieces.append(f"{mark}{escaped(_line(part.text))}{mark}")
            elif part is not None:
                pieces.append(_closed(safe(part.text.strip())))
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
        pieces += [self._needs()] if self.required_tools else []
        for part in self.shown():
            pieces.append(part.line if isinstance(part, Call) else part.text.strip())
        pieces += [self.problem] if self.problem else []
        pieces += [self.proposed] if self.ended else [self.now()]
        return "\n".join(filter(None, pieces)) or self._nothing()

    def _needs(self) -> str:
        return f"Tools: {', '.join(self.required_tools)}"

    @property
    def missed(self) -> str:
        """The notice above the answer."""
        notes = (part for part in self.parts if isinstance(part, Note))
        return next((note.text for note in notes if note.kind == "not_done"), "")

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
        running = [call.name for call in self.calls if call.status == "running"]
        return self.activity or (f"{running[-1]}…" if running else "Working…")

    def now_markdown(self) -> str:
        """The same as Markdown; a waiting request has a link that opens it in the panel."""
        return self._linked(self.now()) if self.waits_for else _aside(self.now())

    def _linked(self, text: str) -> str:
        if not _ID.fullmatch(self.session_id):
            return _aside(text)
        return f"{_aside(text)} [Open it there](#session-{self.session_id})"

    def text(self) -> str:
        """The model's text, without its tool calls."""
        return self.reply.strip() or "\n\n".join(part.text.strip() for part in self.texts)

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


def _calls_markdown(calls: list[Call]) -> str:
    failed = sum(call.status in ("error", "denied") for call in calls)
    count = f"{len(calls)} step{'s' if len(calls) > 1 else ''}"
    lines = "\n".join(
        f"<li>{call.mark} <code>{escaped(call.name)}</code> {escaped(_line(call.summary))}</li>"
        for call in calls
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

"""A turn's answer as Markdown and as plain text."""

from __future__ import annotations

import html
import os
import queue
import re
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ..protocol.fences import Fence, fences, plain_code
from ..protocol.turn_view import ENDS, Call, Note, NoteKind, Text, TurnView
from .server import AgentMagicError, Server, ServerGone

# Text of a model, made safe for the output of a cell, and for a terminal.
#
# JupyterLab renders the Markdown of a cell that the user ran without sanitising it: HTML in it
# would run in the page, with the user's rights, and an image would call another server. So nothing
# that could be HTML, an image or a link to a program leaves here as it came, wherever in the text
# it is: to decide whether something is inside of code would take the very parser that renders it,
# and JupyterLab takes formulas out before it parses. What is code, as far as can be seen, is
# written as HTML of our own with every sign as an entity, so that it reads as it was meant.


SCHEMES = ("http", "https", "mailto")

# The start of a tag, a comment or an autolink; an image; a link in a formula.
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_IMAGE = re.compile(r"!(?=\[)")
_FORMULA_LINK = re.compile(r"\\(?=href\b)")
# The target of a link, and of a definition of one, as far as its title.
_LINK = re.compile(r"\](?P<opened>[(:])(?=\s*(?P<target>[^])\n\"']*))")
_FENCE_LANGUAGE = re.compile(r"[\w+#.-]*")
_SPAN = re.compile(r"(?<!`)`(?P<code>[^`\n]+)`(?!`)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Special characters of Markdown, HTML and formulas, within a line and at its end.
_SIGN = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\\`*_{}\[\]<>&$~|#]")


def safe(text: str) -> str:
    """The Markdown with nothing active in it. Text without tags, images and odd links is returned
    unchanged."""
    if not _acts(text):
        return text
    pieces: list[str] = []
    end = 0
    for block in fences(text):
        pieces += [_prose(text[end : block.start]), _block(block, text[block.start : block.end])]
        end = block.end
    return "".join([*pieces, _prose(text[end:])])


def printable(text: str) -> str:
    """Text for a terminal, without escape sequences."""
    return _CONTROL.sub("", text)


def escaped(text: str) -> str:
    """Text escaped for Markdown and HTML."""
    return _SIGN.sub(lambda sign: _entity(sign[0]), text)


def _acts(text: str) -> bool:
    opens = any(pattern.search(text) for pattern in (_TAG, _IMAGE, _FORMULA_LINK))
    return opens or not all(_is_address(link["target"]) for link in _LINK.finditer(text))


def _is_address(target: str) -> bool:
    """Whether a link's target is an address or a path, as a browser reads it: with entities,
    escapes and control characters decoded."""
    read = re.sub(r"[\x00-\x20\\]", "", html.unescape(target)).lstrip("<")
    scheme = re.match(r"[^/?#]*?:", read)
    return scheme is None or scheme[0][:-1].lower() in SCHEMES


def _block(block: Fence, written: str) -> str:
    if not _acts(written):
        return written
    code = escaped(block.code.rstrip("\n"))
    language = _FENCE_LANGUAGE.match(block.info)
    named = escaped(language[0] if language else "")
    return f'<pre><code class="language-{named}">{code}</code></pre>\n'


def _prose(text: str) -> str:
    pieces: list[str] = []
    end = 0
    for match in _SPAN.finditer(text):
        pieces += [_inert(text[end : match.start()]), _span(match)]
        end = match.end()
    return "".join([*pieces, _inert(text[end:])])


def _span(span: re.Match[str]) -> str:
    return f"<code>{escaped(span['code'])}</code>" if _acts(span[0]) else span[0]


def _inert(text: str) -> str:
    text = _LINK.sub(
        lambda link: link[0] if _is_address(link["target"]) else f"]{_entity(link['opened'])}", text
    )
    for pattern, instead in ((_TAG, "&lt;"), (_IMAGE, _entity("!")), (_FORMULA_LINK, "&#92;")):
        text = pattern.sub(instead, text)
    return text


def _entity(sign: str) -> str:
    return f"&#{ord(sign)};"


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


# Ways to show an answer: in the cell's output while it grows, in a terminal, or at its end.


SHORTEST_INTERVAL = 0.1
CHARACTERS_PER_SECOND = 50_000
"""Each update sends the whole text, so a long one is updated less often."""


class Output(Protocol):
    """Shows an answer as it grows."""

    def show(self, answer: Answer) -> None:
        """Show the current answer; called a last time at its end."""


def bundle(answer: Answer, form: str) -> dict[str, str]:
    """The answer as a notebook stores it, by MIME type."""
    if form == "markdown":
        return {"text/plain": answer.plain(), "text/markdown": answer.markdown()}
    if not answer.ended:
        plain = {"text/plain": f"{answer.text()}\n{answer.now()}".strip()}
        waits = {"text/markdown": answer.now_markdown()} if answer.waits_for else {}
        return {**plain, **waits}
    problem = f"\n{answer.problem}" if answer.problem else ""
    if form == "code" and not answer.error:
        code = answer.code()
        fenced = f"{_fence(code)}{answer.language()}\n{code}\n{_fence(code)}"
        return {"text/plain": code, "text/markdown": safe(fenced)}
    missed = f"{answer.missed}\n" if answer.missed else ""
    return {"text/plain": f"{missed}{answer.text()}{problem}".strip() or answer.plain()}


def _fence(code: str) -> str:
    fence = "```"
    while fence in code:
        fence += "`"
    return fence


class LiveOutput:
    """One output of the cell, updated in place through its display id, even after the cell has
    ended.

    ``publisher`` is that of the magic's own cell: a later cell that captures its output replaces it
    for a while.
    """

    def __init__(self, publisher: Any, form: str) -> None:
        self._publisher = publisher
        self._form = form
        self._id = uuid.uuid4().hex
        self._shown: dict[str, str] | None = None

    def show(self, answer: Answer) -> None:
        data = bundle(answer, self._form)
        if data == self._shown:
            return
        update = self._shown is not None
        self._publisher.publish(data, transient={"display_id": self._id}, update=update)
        self._shown = data


class FinalOutput:
    """One output when the answer is complete, for a frontend that may not support updates."""

    def __init__(self, publisher: Any, form: str) -> None:
        self._publisher = publisher
        self._form = form

    def show(self, answer: Answer) -> None:
        if answer.ended:
            self._publisher.publish(bundle(answer, self._form))


class TerminalOutput:
    """Plain text as it streams."""

    def __init__(self, form: str) -> None:
        self._form = form
        self._written: dict[int, int] = {}
        self._notified: set[str] = set()
        self._at_line_start = True

    def show(self, answer: Answer) -> None:
        if self._form == "code":
            if answer.ended:
                output = answer.problem if answer.error else answer.code()
                self._write(f"{output}\n" if output else "")
            return
        for part in answer.shown():
            # By identity: a part that arrives later may precede it.
            if isinstance(part, Text):
                self._write("".join(part.pieces[self._written.get(id(part), 0) :]))
                self._written[id(part)] = len(part.pieces)
            elif isinstance(part, Note):
                self._line(str(id(part)), part.text)
            elif part.status != "running":
                self._line(part.call_id, part.line)
        if answer.waits_for:
            self._line(answer.waits_for, answer.waits_for)
        if answer.ended:
            if answer.problem:
                self._line("error", answer.problem)
            self._write("" if self._at_line_start else "\n")

    def _line(self, key: str, text: str) -> None:
        if key not in self._notified:
            self._notified.add(key)
            self._write(("" if self._at_line_start else "\n") + f"{text}\n")

    def _write(self, text: str) -> None:
        text = printable(text)
        if text:
            self._at_line_start = text.endswith("\n")
            sys.stdout.write(text)
            sys.stdout.flush()


def output_for(shell: Any, form: str) -> Output:
    """The display for this frontend."""
    if not is_kernel(shell):
        return TerminalOutput(form)
    if has_live_frontend(shell):
        return LiveOutput(shell.display_pub, form)
    return FinalOutput(shell.display_pub, form)


def is_kernel(shell: Any) -> bool:
    """Whether this runs in a kernel, not in a terminal's own IPython."""
    return getattr(shell, "kernel", None) is not None


def has_live_frontend(shell: Any) -> bool:
    """Whether the kernel was started for a notebook, whose page supports output updates."""
    return "JPY_SESSION_NAME" in os.environ or "__vsc_ipynb_file__" in shell.user_ns


def interval_for(answer: Answer) -> float:
    """Seconds between updates of an answer of this length."""
    size = sum(len(part.text) for part in answer.texts)
    return SHORTEST_INTERVAL + size / CHARACTERS_PER_SECOND


# One turn, from the message to its end: sent as an op, followed by the session's events.


AGAIN_SECONDS = 30.0
"""How long a connection that broke off is tried again."""
PAUSE_SECONDS = 0.5
STOP_SECONDS = 10.0


class MagicTurn:
    """A message on its way, and the answer as far as it is known."""

    def __init__(self, server: Server, session_id: str, op_id: str, after: int) -> None:
        self.server = server
        self.session_id = session_id
        self.op_id = op_id
        self.answer = Answer(session_id=session_id)
        self._after = after
        self.started = False
        self._waiting: queue.Queue[dict[str, Any] | AgentMagicError] = queue.Queue()

    @classmethod
    def begin(cls, server: Server, session_id: str, request: dict[str, Any]) -> MagicTurn:
        """Send a message. Raises ``Refused`` or ``ServerGone``."""
        session = server.get(f"sessions/{session_id}")
        op = {"type": "user_message", "request": {**request, "sessionId": session_id}}
        accepted = server.post(f"sessions/{session_id}/ops", op)
        turn = cls(server, session_id, accepted["opId"], session["lastSeq"])
        threading.Thread(target=turn._read, name="%agent events", daemon=True).start()
        return turn

    @property
    def refused(self) -> bool:
        """Whether the message was not taken, so that there is no turn."""
        return self.answer.ended and not self.started and bool(self.answer.error)

    def follow(self, interval: float | None = None) -> Iterator[Answer]:
        """The answer each time something happened, and at the latest after ``interval`` seconds;
        the last one when the turn is over. Raises ``ServerGone``."""
        while not self.answer.ended:
            try:
                event = self._waiting.get(timeout=interval)
            except queue.Empty:
                yield self.answer
                continue
            while True:
                if isinstance(event, AgentMagicError):
                    raise event
                self.answer.take(event)
                try:
                    event = self._waiting.get_nowait()
                except queue.Empty:
                    break
            yield self.answer

    def stop(self) -> None:
        """Stop it, or withdraw it where it still waits; the answer shows how far it got.

        Whether it waits or has begun is known when its beginning is heard of, which may be later
        than this: it is then interrupted all the same.
        """
        deadline = time.monotonic() + STOP_SECONDS
        heard = self.follow(PAUSE_SECONDS)
        asked = None
        while not self.answer.ended and time.monotonic() < deadline:
            started = self.started
            if asked != started:
                op = {"type": "interrupt"} if started else {"type": "dequeue", "opId": self.op_id}
                self.server.post(f"sessions/{self.session_id}/ops", op)
                asked = started
            next(heard, None)

    def _read(self) -> None:
        """In a thread: the events of this turn, over connections that break off."""
        deadline = time.monotonic() + AGAIN_SECONDS
        while True:
            try:
                for event in self._events():
                    deadline = time.monotonic() + AGAIN_SECONDS
                    if self._take(event):
                        return
                gone = ServerGone("The server ended the connection before the turn was over.")
            except ServerGone as error:
                gone = error
            except AgentMagicError as error:
                self._waiting.put(error)
                return
            if time.monotonic() > deadline:
                self._waiting.put(gone)
                return
            time.sleep(PAUSE_SECONDS)

    def _events(self) -> Iterator[dict[str, Any]]:
        route = f"sessions/{self.session_id}/events"
        for event in self.server.stream(route, after=str(self._after)):
            self._after = max(self._after, event.get("seq") or 0)
            yield event

    def _take(self, event: dict[str, Any]) -> bool:
        """Hand on what is about this turn; True when it is over."""
        kind, op_id = event["type"], event.get("opId")
        if kind == "turn_started" and op_id == self.op_id:
            self.started = True
            self.answer.turn_id = event["turnId"]
        elif kind == "op_dequeued" and op_id == self.op_id and event["reason"] == "removed":
            event = {"type": "turn_aborted", "reason": "interrupted"}
        elif kind == "error" and op_id == self.op_id and not self.started:
            # A message that is refused has no turn.
            self._waiting.put(event)
            event = {"type": "turn_aborted", "reason": "error"}
        elif not self.started or event.get("turnId") != self.answer.turn_id:
            return False
        self._waiting.put(event)
        return event["type"] in ENDS

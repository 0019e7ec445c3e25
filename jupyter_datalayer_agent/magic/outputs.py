"""Ways to show an answer: in the cell's output while it grows, in a terminal, or at its end."""

from __future__ import annotations

import os
import sys
import uuid
from typing import Any, Protocol

from ..protocol.turn_view import Note, Text
from .answer import Answer
from .untrusted import printable, safe

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

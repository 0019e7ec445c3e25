"""What a conversation costs beside litellm alone: one table, measured in turns in one run.

Times are taken at the scripted model server: from the last byte of an answer to the arrival of the
next request, from a message to the arrival of its request. litellm alone gets the very requests of
the turn before, in a process of its own. Growth over 30 turns is drawn into ``docs/growth.svg``.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks import streaming
from benchmarks.chats import (
    CALLS,
    READ_ONE,
    answering,
    request,
    running,
    write_notebook,
)
from benchmarks.direct import WARM_UP, replay
from benchmarks.plot import lines
from benchmarks.table import ms, show
from tests.support.jupyter import RunningServer
from tests.support.long_chats import is_summary, prefix_shares
from tests.support.model_request import RecordedRequest
from tests.support.model_script import Say
from tests.support.model_server import ScriptedModelServer
from tests.support.page import FakePage

TURNS = 30
CELLS = 10
FIRST_TOKENS = 20
FIRST_MESSAGES = 3
SHOWN_BEFORE = 3
"""Seconds from the panel's being shown, as the layout restores it, to the focus."""
PLOT = Path(__file__).parents[1] / "docs" / "growth.svg"
TEXT = Say("One two three four five.")

OURS, PLAIN, RESPONSES = "the extension", "`acompletion` alone", "`aresponses` alone"


def gap(requests: Sequence[RecordedRequest]) -> float:
    """Median seconds from an answer's last byte to the next request."""
    assert len(requests) == CALLS + 1
    gaps = []
    for before, after in pairwise(requests):
        assert before.ended_at is not None
        gaps.append(after.arrived_at - before.ended_at)
    return statistics.median(gaps)


def between_calls() -> dict[str, list[float]]:
    """Of each turn the median gap, of the extension and of litellm alone."""
    found: dict[str, list[float]] = {OURS: [], PLAIN: [], RESPONSES: []}
    with running() as (server, model):
        body = request(write_notebook(server, CELLS), sessionId=server.post("sessions", {})["id"])
        model.set_default(answering(READ_ONE))
        server.post("chat", {**request(body["activeNotebook"])})
        for _ in range(TURNS):
            model.reset()
            model.set_default(answering(READ_ONE))
            server.post("chat", body)
            turn = [asked for asked in model.requests if not is_summary(asked)]
            found[OURS].append(gap(turn))
            bodies, steps = [asked.body for asked in turn], [*[READ_ONE] * CALLS, Say("Done.")]
            for name, plain in ((PLAIN, True), (RESPONSES, False)):
                replay(model, bodies, steps, plain=plain)
                found[name].append(gap(model.requests[-len(bodies) :]))
    return found


def first_tokens() -> dict[str, list[float]]:
    """Seconds from a message to its first text, without what the model server took.

    Of the extension over the page's WebSocket, with a notebook attached."""
    found: dict[str, list[float]] = {OURS: [], PLAIN: [], RESPONSES: []}
    with running() as (server, model), FakePage(server) as page:
        path = write_notebook(server, CELLS)
        model.set_default(TEXT)
        for number in range(FIRST_TOKENS):
            if number % 10 == 0:
                session = server.post("sessions", {})["id"]
                page.send({"type": "subscribe", "sessionId": session})
            # The last of a few in a row: after a pause a process finds its caches cold.
            for _ in range(WARM_UP + 1):
                took = send(page, session, request(path))
            asked = model.requests[-1]
            found[OURS].append(took - model_time(asked))
            for name, plain in ((PLAIN, True), (RESPONSES, False)):
                alone = replay(model, [asked.body], [TEXT], plain=plain)[0].first
                found[name].append(alone - model_time(model.requests[-1]))
    return found


def send(page: FakePage, session: str, body: dict[str, Any]) -> float:
    """Seconds from a message to its first text at the page; waits for the turn's end."""
    op = {"type": "user_message", "request": body}
    began = time.monotonic()
    page.send({"type": "submit_op", "ref": str(began), "sessionId": session, "op": op})
    page.wait_for("text_delta")
    took = time.monotonic() - began
    page.wait_for("turn_completed")
    return took


def model_time(asked: RecordedRequest) -> float:
    """Seconds that the model server took to the first piece of its answer."""
    assert asked.first_sent_at is not None
    return asked.first_sent_at - asked.arrived_at


def first_message(*, shown_before: float) -> tuple[float, float]:
    """A new server: seconds from its first message, sent 1 s after the focus, to the model's
    request, and to the first text."""
    with running() as (server, model), FakePage(server) as page:
        path = write_notebook(server, CELLS)
        model.set_default(TEXT)
        session = as_page(server, page)
        page.send({"type": "panel_shown"})
        time.sleep(shown_before)
        page.send({"type": "input_focused"})
        time.sleep(1)
        began = time.monotonic()
        first_text = send(page, session, request(path))
        return model.requests[0].arrived_at - began, first_text


def as_page(server: RunningServer, page: FakePage) -> str:
    """What a page asks for when its panel is shown; the session that it shows."""
    server.get("models")
    server.get("sessions")
    session: str = server.post("sessions", {})["id"]
    page.send({"type": "subscribe", "sessionId": session})
    return session


def prefixes() -> tuple[float, float]:
    """What the first request of turn 2 has of the last one of turn 1, without tool calls and with
    20 of them: the share of its bytes that begin the one before, too."""
    with running() as (server, model):
        path = write_notebook(server, CELLS)
        return prefix(server, model, path, TEXT), prefix(server, model, path, answering(READ_ONE))


def prefix(server: RunningServer, model: ScriptedModelServer, path: str, step: Any) -> float:
    """The share of one chat."""
    model.reset()
    model.set_default(step)
    body = request(path, sessionId=server.post("sessions", {})["id"])
    server.post("chat", body)
    last = len(model.requests) - 1
    server.post("chat", body)
    return prefix_shares(model.requests[last : last + 2])[0]


def main() -> None:
    """Print the table, and draw the growth."""
    before = os.getloadavg()[0]
    gaps = between_calls()
    first = first_tokens()
    restored, opened = [], []
    for _ in range(FIRST_MESSAGES):
        restored.append(first_message(shown_before=SHOWN_BEFORE))
        opened.append(first_message(shown_before=0))
    without, with_calls = prefixes()
    _, size = streaming.measure()

    def of(times: dict[str, list[float]], part: slice = slice(None)) -> list[str]:
        return [
            f"{ms(statistics.median(times[name][part]))} ({ms(min(times[name][part]))})"
            for name in (OURS, PLAIN, RESPONSES)
        ]

    def message(times: list[tuple[float, float]]) -> str:
        asked, text = (statistics.median(each) for each in zip(*times, strict=True))
        return f"{asked:.2f} s ({min(times)[0]:.2f} s), {text:.2f} s to the first text"

    third = TURNS // 3
    show(
        "A conversation with a notebook attached, beside litellm alone",
        ["", OURS, PLAIN, RESPONSES, "aim"],
        [
            ["model's last byte → next request", *of(gaps), "≤ 1.2 × `acompletion`"],
            [f"turns 1 to {third}", *of(gaps, slice(None, third)), ""],
            [f"turns {TURNS - third + 1} to {TURNS}", *of(gaps, slice(-third, None)), "flat"],
            ["first token, warm, over the model server's own time", *of(first),
             "≤ 1.6 × `acompletion`"],
            [f"first message of a new server, panel shown {SHOWN_BEFORE} s before the focus, sent "
             "1 s after it, to the model's request", message(restored), "", "", "≤ 0.5 s"],
            ["the same, panel shown by the click that sets the focus", message(opened), "", "", ""],
            ["unchanged prefix, turn 1 → 2", f"{without:.3f}", "", "", "≥ 0.97"],
            [f"the same after {CALLS} calls", f"{with_calls:.3f}", "", "", "≥ 0.97"],
            ["8 kB answer at 100 pieces a second, to the page", f"{size / 1000:.1f} kB", "", "",
             "≤ 40 kB"],
        ],
    )  # fmt: skip
    print(
        f"{TURNS} turns of {CALLS} calls; {FIRST_TOKENS} first tokens, {FIRST_MESSAGES} new "
        "servers of each kind; medians, all in turns (in brackets the least). "
        f"Processes that wanted the {os.cpu_count()} cores: "
        f"{before:.1f} before, {os.getloadavg()[0]:.1f} after."
    )
    series = {
        name.replace("`", ""): [1000 * each for each in times] for name, times in gaps.items()
    }
    title = f"From an answer's last byte to the next request, {CALLS} calls a turn (median, ms)"
    turns = list(range(1, TURNS + 1))
    PLOT.write_text(lines(title, turns, series, goal=20, linear=True), encoding="utf-8")
    print(f"\n{PLOT.name}: growth over {TURNS} turns.")


if __name__ == "__main__":
    main()

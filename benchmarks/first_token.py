"""Time to the first token, over a bare litellm call; and the first message of a new server."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from benchmarks.chats import first_text, request, running
from benchmarks.direct import WARM_UP, replay
from benchmarks.table import ms, show
from tests.support.jupyter import RunningServer
from tests.support.model_script import Say
from tests.support.page import FakePage

RUNS = 40
FIRST_RUNS = 3
AFTER_FOCUS = (0, 1, 3)
TEXT = Say("One two three four five.")

LOAD = """
import asyncio, time
import jupyterlab.labapp, jupyter_datalayer_agent.server.routes
from jupyter_datalayer_agent.models import loader
began = time.perf_counter()
asyncio.run(loader.litellm())
print(time.perf_counter() - began)
"""


def ready() -> float:
    """Seconds from the focus to a litellm that can be called, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", LOAD], capture_output=True, check=True, text=True)
    return float(done.stdout)


def first_message(after_focus: float | None) -> float:
    """Seconds to the first text of the first message of a new server.

    The page has loaded, and its input was focused so many seconds before; None: no page at all.
    """
    with running() as (server, model):
        model.script(Say("Hello."))
        if after_focus is None:
            return first_text(server, request())
        with FakePage(server) as page:
            server.get("sessions")
            server.get("models")
            page.send({"type": "input_focused"})
            time.sleep(after_focus)
            return first_text(server, request())


def over_page(server: RunningServer, page: FakePage, session: str) -> float:
    """Seconds to the first text of a message in an open chat, by the page's WebSocket."""
    op = {"type": "user_message", "request": request()}
    began = time.perf_counter()
    page.send({"type": "submit_op", "ref": str(began), "sessionId": session, "op": op})
    page.wait_for("text_delta")
    took = time.perf_counter() - began
    page.wait_for("turn_completed")
    return took


def warm() -> list[list[str]]:
    """The rows of a server that has been used. Each figure is that of the last of four calls in a
    row, here and of litellm alone: after a pause a process finds its caches cold."""
    stream, page_times, own, own_page, plain = [], [], [], [], []
    with running() as (server, model), FakePage(server) as page:
        session = server.post("sessions", {})["id"]
        page.send({"type": "subscribe", "sessionId": session})
        model.set_default(TEXT)
        for _ in range(RUNS):
            for _ in range(WARM_UP + 1):
                over_stream = first_text(server, request())
            stream.append(over_stream)
            body = model.requests[-1].body
            own.append(replay(model, [body], [TEXT])[0].first)
            plain.append(replay(model, [body], [TEXT], plain=True)[0].first)
            for _ in range(WARM_UP + 1):
                by_page = over_page(server, page, session)
            page_times.append(by_page)
            # The chat grows, and with it litellm's own time.
            own_page.append(replay(model, [model.requests[-1].body], [TEXT])[0].first)

    def row(name: str, times: list[float], alone: list[float]) -> list[str]:
        over = statistics.median(a - b for a, b in zip(times, alone, strict=True))
        return [name, ms(statistics.median(times)), ms(statistics.median(alone)), ms(over)]

    return [
        ["acompletion", "", ms(statistics.median(plain)), ""],
        row("a new chat, over chat/stream", stream, own),
        row("the next message of a chat, over the page's WebSocket", page_times, own_page),
    ]


def main() -> None:
    """Print the tables."""
    show(
        f"To the first token (median of {RUNS})",
        ["", "time", "litellm alone", "over it"],
        warm(),
    )
    rows = [["from the focus to ready", statistics.median(ready() for _ in range(FIRST_RUNS))]]
    for seconds in AFTER_FOCUS:
        took = statistics.median(first_message(seconds) for _ in range(FIRST_RUNS))
        rows.append([f"sent {seconds} s after the focus", took])
    rows.append(
        [
            "sent by a program, no page open",
            statistics.median(first_message(None) for _ in range(FIRST_RUNS)),
        ]
    )
    show(
        f"The first message of a new server, to its first text (median of {FIRST_RUNS})",
        ["", "time"],
        [[name, f"{took:.2f} s"] for name, took in rows],
    )


if __name__ == "__main__":
    main()

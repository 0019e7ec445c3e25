"""Time to the first token, over a bare litellm call; and the first message of a new server."""

from __future__ import annotations

import statistics
import time

from benchmarks.chats import first_text, request, running
from benchmarks.direct import replay
from benchmarks.table import ms, show
from tests.support.model_script import Say

RUNS = 40


def first_message(focus: bool) -> float:
    """Seconds to the first text of the first message of a new server.

    With ``focus`` the page's input was focused three seconds before, which begins litellm's import.
    """
    from tests.support.page import FakePage

    with running() as (server, model):
        model.script(Say("Hello."))
        if not focus:
            return first_text(server, request())
        with FakePage(server) as page:
            page.send({"type": "input_focused"})
            time.sleep(3)
            return first_text(server, request())


def main() -> None:
    """Print the table."""
    text = Say("One two three four five.")
    plain, own, ours = [], [], []
    with running() as (server, model):
        for number in range(RUNS + 3):
            model.reset()
            model.script(text)
            took = first_text(server, request())
            bodies = [model.requests[0].body]
            direct = replay(model, bodies, [text])[0].first
            chat = replay(model, bodies, [text], plain=True)[0].first
            if number >= 3:
                ours.append(took)
                own.append(direct)
                plain.append(chat)
    over = statistics.median(a - b for a, b in zip(ours, own, strict=True))
    rows = [
        ["litellm alone, acompletion", ms(statistics.median(plain)), ""],
        ["litellm alone, aresponses", ms(statistics.median(own)), ""],
        ["over chat/stream", ms(statistics.median(ours)), f"{ms(over)} over aresponses"],
        ["first message of a new server, input focused 3 s before", ms(first_message(True)), ""],
        ["first message of a new server, nothing before", ms(first_message(False)), ""],
    ]
    show(f"To the first token (median of {RUNS}; the last two once)", ["", "time", ""], rows)


if __name__ == "__main__":
    main()

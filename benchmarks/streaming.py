"""What a streamed answer costs on an open page's socket: events, and bytes of all frames."""

from __future__ import annotations

from benchmarks.chats import request, running
from benchmarks.table import show
from tests.support.model_script import Say
from tests.support.page import FakePage

TEXT = " ".join(f"line {number} says something else" for number in range(300))[:8000]
PIECE = 16
DELAY_MS = 10


def measure() -> tuple[int, int]:
    """The events of one answer's text, and the bytes of all frames of its turn."""
    with running() as (server, model), FakePage(server) as page:
        session = server.post("sessions", {})["id"]
        page.send({"type": "subscribe", "sessionId": session})
        model.script(Say(TEXT, chunk=PIECE, delay_ms=DELAY_MS))
        before = page.frame_bytes
        op = {"type": "user_message", "request": request()}
        page.send({"type": "submit_op", "ref": "streamed", "sessionId": session, "op": op})
        deltas, kind = 0, ""
        while kind != "turn_completed":
            message = page.received.get(timeout=60)
            kind = message["event"]["type"] if message["type"] == "event" else ""
            deltas += kind == "text_delta"
        return deltas, page.frame_bytes - before


def main() -> None:
    """Print the table."""
    deltas, size = measure()
    show(
        f"An answer of {len(TEXT):,} characters, {1000 // DELAY_MS} pieces a second, to the page",
        ["pieces of the model", "text_delta events", "bytes of all frames"],
        [[-(-len(TEXT) // PIECE), deltas, f"{size:,}"]],
    )


if __name__ == "__main__":
    main()

"""Answers that go round in circles are ended; those that are only long are not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_datalayer_agent.agent.model_calls.answer_reader import LEAST, LONGEST, Repetition
from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.planning import of_type, submit, until

INTRO = "Some ideas for charts, none of which is about the same thing:\n\n"
LINE = "**Which chart**: to show how two numbers go together, points."


def noticed_at(text: str, chunk: int = 7) -> tuple[int | None, Repetition]:
    """After how many characters the repetition is noticed."""
    repetition = Repetition()
    for at in range(0, len(text), chunk):
        if repetition.has_begun(text[at : at + chunk]):
            return at + chunk, repetition
    return None, repetition


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{number}. {LINE}\n\n" for number in range(1, 300)),
        "".join(f"{number}. {LINE}\n{number + 1}. Or bars.\n" for number in range(1, 300, 2)),
        f"{LINE} " * 300,
        "the " * 3000,
        "=" * 9000,
        f"{'A longer piece, of several sentences. ' * 10}With an end.\n" * 40,
    ],
    ids=["list", "two items", "no lines", "a word", "a character", "long"],
)
def test_a_text_that_repeats_itself_is_noticed(text: str) -> None:
    at, repetition = noticed_at(INTRO + text)
    assert at is not None
    assert at < len(INTRO) + max(LEAST, 8 * LONGEST) + 2500
    kept = repetition.text()
    assert kept.startswith(INTRO)
    assert (INTRO + text).startswith(kept)
    assert len(kept) < len(INTRO) + 2 * LONGEST


def test_one_repetition_is_kept_whole() -> None:
    _, repetition = noticed_at(INTRO + "".join(f"{n}. {LINE}\n" for n in range(1, 300)))
    assert repetition.text() == f"{INTRO}1. {LINE}\n2. {LINE}"


@given(
    intro=st.text(max_size=3000),
    piece=st.text(min_size=1, max_size=LONGEST),
    chunk=st.integers(1, 200),
)
def test_any_piece_is_noticed(intro: str, piece: str, chunk: int) -> None:
    text = intro + piece * (20_000 // len(piece))
    at, repetition = noticed_at(text, chunk)
    assert at is not None
    assert len(repetition.text()) <= at


RANDOM = random.Random(7)
ROWS = [f"| {RANDOM.random():.4f} | {RANDOM.choice(['usa', 'japan'])} |\n" for _ in range(400)]


@pytest.mark.parametrize(
    "text",
    [
        "".join(ROWS),
        "".join(f"{number},{number * number % 97}\n" for number in range(2000)),
        "".join(f"{n}. Step {n}: {RANDOM.choice(ROWS)}" for n in range(300)),
        "| name | value |\n|---|---|\n" + "| a | 0 |\n" * 60 + "".join(ROWS),
        "".join(f"def test_{n}():\n    assert f({n}) == {n % 7}\n\n" for n in range(200)),
        ("- [ ] to do\n" * 12 + "".join(ROWS[:9])) * 2,
    ],
    ids=["table", "numbers", "steps", "equal rows", "code", "short"],
)
def test_a_text_that_is_only_long_is_not(text: str) -> None:
    assert noticed_at(text)[0] is None


def test_such_an_answer_is_ended_and_its_first_round_kept(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    answer = INTRO + "".join(f"{number}. {LINE}\n" for number in range(1, 5000))
    model.script(Say(answer, chunk=400), Say("By bars."))
    session = str(server.post("sessions", {})["id"])
    events = []
    for message in ("Ideas?", "And else?"):
        last = server.get(f"sessions/{session}")["lastSeq"]
        submit(server, session, {"type": "user_message", "request": {"message": message}})
        stream = server.stream(f"sessions/{session}/events?after={last}")
        events.append(until(stream, "turn_completed", "turn_aborted"))
    first, second = events
    kept = f"{INTRO}1. {LINE}\n2. {LINE}"
    assert first[-1]["type"] == "turn_completed"
    assert of_type(first, "final_reply")[0]["text"] == kept
    [warning] = of_type(first, "warning")
    assert warning["code"] == "repetition"
    assert warning["message"] == "The model repeated itself, so its answer was stopped."
    # What was shown of it is taken back, and the model does not read it again.
    shown = "".join(each["delta"] for each in of_type(first, "text_delta"))
    assert len(shown) < len(answer) / 10
    at = next(n for n, each in enumerate(first) if each["type"] == "item_discarded")
    assert "".join(each["delta"] for each in of_type(first[at:], "text_delta")) == kept
    assert f"2. {LINE}" in model.requests[1].text
    assert f"3. {LINE}" not in model.requests[1].text
    assert of_type(second, "final_reply")[0]["text"] == "By bars."
    # What it wrote is counted, although its server never reported it.
    usage = of_type(first, "token_usage")[-1]["usage"]
    assert usage["estimated"] is True
    assert usage["outputTokens"] > 500

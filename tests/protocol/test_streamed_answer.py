"""The text of an answer, for those who can only add to it."""

from __future__ import annotations

from typing import Any

from jupyter_datalayer_agent.protocol.streamed_answer import (
    BROKEN_OFF,
    WAS_REASONING,
    StreamedAnswer,
)


def delta(item: str, text: str) -> dict[str, Any]:
    return {"type": "text_delta", "itemId": item, "delta": text}


def text_of(*events: dict[str, Any]) -> str:
    answer = StreamedAnswer()
    return "".join(answer.take(event) for event in events)


def final(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "final_reply", "text": text, **more}


def test_what_was_streamed_is_not_said_again() -> None:
    said = text_of(delta("a", "Let me "), delta("a", "see."), delta("b", "Done"), final("Done"))
    assert said == "Let me see.\n\nDone"


def test_what_was_not_streamed_is_added() -> None:
    assert text_of(final("All of it")) == "All of it"
    assert text_of(delta("a", "It is [1]"), final("It is [1]\n\nSources")) == "It is [1]\n\nSources"
    assert text_of(delta("a", "One"), final("Stopped.")) == "One\n\nStopped."


def test_a_stream_that_is_retried_is_said_to_be() -> None:
    retried = {"type": "item_discarded", "itemId": "a"}
    again = text_of(delta("a", "Cut o"), retried, delta("b", "Whole"), final("Whole"))
    assert again.startswith(f"Cut o{BROKEN_OFF}")
    assert again.endswith("Whole")
    reasoned = {**retried, "reason": "reasoning"}
    said = text_of(delta("a", "Hm"), reasoned, delta("a", "42"), final("42"))
    assert said.startswith(f"Hm{WAS_REASONING}")
    assert said.endswith("42")
    # Nothing was shown of it.
    assert text_of(retried, final("Whole")) == "Whole"


def test_what_was_not_done_is_said_after_an_answer_that_is_silent_about_it() -> None:
    missed = {"kind": "nothing_done", "message": "Nothing was changed."}
    assert text_of(delta("a", "Done!"), final("Done!", notDone=missed)) == (
        "Done!\n\n**Nothing was changed.**"
    )

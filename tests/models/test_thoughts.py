"""Reasoning that a model writes into its text."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from jupyter_datalayer_agent.models import ItemTakenBack, LitellmModel
from jupyter_datalayer_agent.models.thoughts import MARKS, Kind, ThoughtReader
from jupyter_datalayer_agent.models.types import is_thought
from tests.models.calls import APIS, Answered, answer, model, request
from tests.support.model_server import (
    Answer,
    BreakAfter,
    Call,
    Reasoning,
    Say,
    ScriptedModelServer,
    Step,
)

both_apis = pytest.mark.parametrize("api", APIS)
PLAN, TEXT = "Secret plan: déjà vu, 答え.", "The answer is 42."
HARMONY = (
    f"<|channel|>analysis<|message|>{PLAN}<|end|><|start|>assistant<|channel|>final<|message|>"
)


def read(text: str, chunk: int, **options: Any) -> ThoughtReader:
    """A reader that was given the text in pieces; what it shows agrees with what it keeps."""
    reader = ThoughtReader(**options)
    shown = {Kind.TEXT: "", Kind.THOUGHT: ""}
    pieces = [p for at in range(0, len(text), chunk) for p in reader.feed(text[at : at + chunk])]
    for piece in [*pieces, *reader.end()]:
        if piece.kind is Kind.TEXT_TAKEN_BACK:
            shown[Kind.TEXT] = ""
        elif piece.kind is Kind.THOUGHT_TAKEN_BACK:
            shown[Kind.THOUGHT] = ""
        else:
            shown[piece.kind] += piece.text
    assert shown == {Kind.TEXT: reader.text, Kind.THOUGHT: reader.thought}
    return reader


SPLIT = {
    **{f"{opening}{PLAN}{closing}{TEXT}": (PLAN, TEXT) for opening, closing in MARKS.items()},
    f"<think>\n{PLAN}\n</think>\n\n{TEXT}": (f"{PLAN}\n", TEXT),
    f"\n\n  <think>{PLAN}</think>{TEXT}": (PLAN, TEXT),
    f"<think>\n\n</think>\n\n{TEXT}": ("", TEXT),
    f"<think>a</think>\n<thinking>b</thinking>\n{TEXT}": ("a\n\nb", TEXT),
    f"<think>a <think>b</think> c</think>{TEXT}": ("a <think>b\n\nc", TEXT),
    f"<think>{PLAN}": (PLAN, ""),
    f"<think>{PLAN}</thin": (f"{PLAN}</thin", ""),
    # The chat template has written the opening.
    f"{PLAN}\n</think>\n\n{TEXT}": (PLAN, TEXT),
    f"{PLAN}</think>\n{TEXT}": (PLAN, TEXT),
    f"{PLAN}\n\n```python\nx = 1\n```\nand `y`.\n</think>\n{TEXT}": (
        f"{PLAN}\n\n```python\nx = 1\n```\nand `y`.",
        TEXT,
    ),
    f"{PLAN}\n</think>": (PLAN, ""),
    f"</think>\n\n{TEXT}": ("", TEXT),
    f"{HARMONY}{TEXT}<|return|>": (PLAN, TEXT),
    f"{HARMONY}{TEXT}": (PLAN, TEXT),
    f"<|start|>assistant{HARMONY}{TEXT}": (PLAN, TEXT),
    f"<|channel|>final<|message|>{TEXT}<|end|>": ("", TEXT),
    f"<|channel|>commentary<|message|>First.<|end|><|start|>assistant{HARMONY}{TEXT}": (
        PLAN,
        f"First.\n\n{TEXT}",
    ),
    f"<|channel|>analysis<|message|>{PLAN}": (PLAN, ""),
    f"<|channel|>analysis<|message|>{PLAN}<|end|>{TEXT}": (PLAN, TEXT),
    f"<|channel|>analysis<|message|>{PLAN}<|end|>assistant<|channel|>final<|message|>{TEXT}": (
        PLAN,
        TEXT,
    ),
    f"analysis{PLAN}assistantfinal{TEXT}": (PLAN, TEXT),
}
CALL = 'functions.add <|constrain|>json<|message|>{"x": 1}<|call|>'
TEXTS = [
    TEXT,
    "<thinker> is a library.",
    "<thin",
    "<",
    " <b>bold</b> and <think",
    "```xml\n<think>\nplan\n</think>\n```\nis what it writes.",
    "It writes:\n```\nplan\n</think>\n42\n```",
    "`<think>` opens, `</think>` closes.",
    "The tag `</think>`\ncloses it.",
    "Between <think> and </think>\nstands the plan.",
    "The closing </think> comes last.",
    'It ends with "</think>"\nalways.',
    "> </think>\nis quoted.",
    "Das Ende </think> steht mitten im Satz.",
    "analysis of variance",
    "analysisResults is a frame.",
    "an",
    "[THINKING] is a word",
    "a <|channel|> b",
    "x < y and y > z [1]",
    "",
    "\n",
    f"<|channel|>commentary to={CALL}",
]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("text", SPLIT)
def test_reasoning_is_no_part_of_the_answer(text: str, chunk: int) -> None:
    reader = read(text, chunk)
    assert (reader.thought, reader.text) == SPLIT[text]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("text", TEXTS)
def test_what_looks_like_it_is_text(text: str, chunk: int) -> None:
    reader = read(text, chunk)
    assert (reader.thought, reader.text) == ("", text)


@pytest.mark.parametrize("chunk", [1, 5, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "<think> and </think> are the tags.",
        "<think>The first</think> of them.",
        "It ends with it.</think>\nSo it does.",
    ],
)
def test_of_a_user_who_asks_about_the_marks_they_stand_on_their_own(text: str, chunk: int) -> None:
    assert read(text, chunk, is_about_marks=True).text == text
    thought = f"<think>\nAsked about </think> and `</think>`.\n</think>\n\n{text}"
    reader = read(thought, chunk, is_about_marks=True)
    assert (reader.thought, reader.text) == ("Asked about </think> and `</think>`.", text)


@pytest.mark.parametrize("chunk", [1, 5, 1000])
def test_a_call_in_harmony_is_left_to_those_who_read_calls(chunk: int) -> None:
    analysis = f"<|channel|>analysis<|message|>{PLAN}<|end|>"
    reader = read(f"{analysis}<|start|>assistant<|channel|>commentary to={CALL}", chunk)
    assert (reader.thought, reader.text) == (PLAN, f"<|channel|>commentary to={CALL}")
    reader = read(f"{analysis}<|start|>assistant to={CALL}", chunk)
    assert reader.thought == PLAN


@pytest.mark.parametrize("about", [False, True])
@pytest.mark.parametrize(
    "piece",
    ["x </think> y ", "<think>a</think>", "a\n</think>\n", "<think>", "\n", '"</think>" ', HARMONY],
)
def test_a_megabyte_of_marks_takes_time_that_grows_with_its_length(piece: str, about: bool) -> None:
    text = piece * (1_000_000 // len(piece))
    began = time.process_time()
    reader = read(text, 1000, is_about_marks=about)
    # A reading of all that went before at each mark takes minutes.
    assert time.process_time() - began < 3
    assert len(reader.text) + len(reader.thought) > 400_000 or not piece.strip()


@pytest.mark.parametrize("fence", ["      ```", "> ```", "\t```"])
def test_a_mark_in_code_within_a_list_or_a_quotation_is_text(fence: str) -> None:
    text = f"Write this:\n{fence}text\n</think>\n{fence}\nSo it ends."
    assert read(text, 3).text == text


def test_an_ordinary_answer_is_not_held_back() -> None:
    reader = ThoughtReader()
    for delta in ["The", " mean", " is", " 3", ".\n", "\n```py", "\nx", " = 1 + 2", "\n```"]:
        assert [piece.text for piece in reader.feed(delta)] == [delta]


def shown(answered: Answered) -> tuple[str, str]:
    """The reasoning and the text of the whole items."""
    items = answered.done.items
    thoughts = [
        "".join(part["text"] for part in it.get("content") or it["summary"])
        for it in items
        if it["type"] == "reasoning"
    ]
    texts = ["".join(p["text"] for p in it["content"]) for it in items if it["type"] == "message"]
    return "".join(thoughts), "".join(texts)


@pytest.mark.parametrize("streamed", [True, False])
@both_apis
@pytest.mark.parametrize("opening", ["<think>\n", "", "<thinking>"])
async def test_items_and_chunks_have_the_reasoning_apart(
    opening: str, api: str, streamed: bool
) -> None:
    closing = "</thinking>" if opening == "<thinking>" else "\n</think>"
    step = Say(f"{opening}{PLAN}{closing}\n\n{TEXT}", chunk=3)
    with ScriptedModelServer(step, Say("Bye.")) as server:
        answered = await answer(request(server, api, stream=streamed))
        thought, text = shown(answered)
        assert (thought.strip(), text) == (PLAN, TEXT)
        assert answered.reasoning.strip() == PLAN
        # It is not sent back.
        items = [*request(server, api).input, *answered.done.items]
        await answer(request(server, api, input=[*items, {"role": "user", "content": "And?"}]))
        sent = json.dumps(server.requests[1].body, ensure_ascii=False)
        assert len(server.requests) == 2
    assert TEXT in sent
    if streamed or opening == "" or api == "responses":
        # Else litellm took it apart, as if it had been in a field of its own.
        assert "Secret" not in sent


async def test_a_model_that_opens_without_a_mark_is_known_by_the_second_answer() -> None:
    by = model()
    # So few events are never joined, however many of them a read brings at once.
    bare, plain = Say(f"{PLAN}\n</think>\n\n{TEXT}", chunk=20), Say(TEXT, chunk=20)
    steps = [bare, bare, plain, plain]
    with ScriptedModelServer(*steps) as server:
        answers = [await answer(request(server, "chat"), by) for _ in steps]
    assert [len(each.of(ItemTakenBack)) for each in answers] == [1, 0, 1, 0]
    assert [shown(each)[1] for each in answers] == [TEXT] * 4
    assert [shown(each)[0].strip() for each in answers] == [PLAN, PLAN, "", ""]


async def test_a_model_that_writes_its_openings_is_no_such_model() -> None:
    by = model()
    steps: list[Step] = [
        Say(f"{PLAN}\n</think>\n\n{TEXT}"),
        Say(f"<think>{PLAN}</think>{TEXT}"),
        Answer([Say("The answer is")], finish="length"),
    ]
    with ScriptedModelServer(*steps) as server:
        answers = [await answer(request(server, "chat"), by) for _ in steps]
    assert shown(answers[2]) == ("", "The answer is")


async def test_reasoning_that_is_cut_off_stays_reasoning() -> None:
    by = model()
    steps: list[Step] = [
        Say(f"{PLAN}\n</think>\n\n{TEXT}"),
        Answer([Say(PLAN)], finish="length"),
        Answer([Say(f"<think>{PLAN}")], finish="length"),
    ]
    with ScriptedModelServer(*steps) as server:
        answers = [await answer(request(server, "chat"), by) for _ in steps]
    assert shown(answers[1]) == shown(answers[2]) == (PLAN, "")
    assert answers[1].done.finish_reason == "max_output_tokens"


@both_apis
async def test_a_call_follows_reasoning(api: str) -> None:
    step = Answer([Say(f"<think>{PLAN}</think>"), Call("add", {"x": 1}, "call_a")])
    with ScriptedModelServer(step) as server:
        answered = await answer(request(server, api))
    thought, call = answered.done.items
    assert is_thought(thought)
    assert call["name"] == "add"
    assert answered.text == ""


@both_apis
async def test_reasoning_in_a_field_of_its_own_stays_as_it_is(api: str) -> None:
    step = Answer([Reasoning(PLAN), Say(f"</think>\n\n{TEXT}")])
    with ScriptedModelServer(step) as server:
        answered = await answer(request(server, api))
    assert answered.reasoning == PLAN
    assert shown(answered) == (PLAN, TEXT)


@both_apis
async def test_a_stream_that_breaks_in_the_reasoning_names_what_was_shown(api: str) -> None:
    with ScriptedModelServer(BreakAfter(2, Say(f"<think>{PLAN}", chunk=10))) as server:
        answered = await answer(request(server, api))
    [partial] = answered.failure.broken.partial_item_ids
    assert {each.item_id for each in answered.events if hasattr(each, "delta")} == {partial}


async def test_the_user_may_ask_about_the_marks() -> None:
    said = "<think> and </think> are its tags."
    asked = [{"role": "user", "content": "What do <think> and </think> mean?"}]
    with ScriptedModelServer(Say(said)) as server:
        answered = await answer(request(server, "chat", input=asked), LitellmModel())
    assert shown(answered) == ("", said)

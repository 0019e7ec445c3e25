"""Servers that refuse a part of a request: it is left out, and that is remembered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_datalayer_agent.models import Item
from tests.models.calls import APIS, HELLO, TOOL, answer, model, request
from tests.support.model_rules import (
    extra_forbidden,
    no_system_role,
    no_user_after_tool,
    roles_alternate,
    unsupported,
)
from tests.support.model_server import RecordedRequest, Say, ScriptedModelServer, Status

PARAMETERS = {
    "parallel_tool_calls": False,
    "temperature": 0.2,
    "top_p": 0.9,
    "reasoning_effort": "low",
    "max_output_tokens": 100,
    "tool_choice": "auto",
    "output_schema": {"type": "object"},
}
"""All that a request can have."""


def user(text: str) -> Item:
    return {"role": "user", "content": text}


CALLED: list[Item] = [
    {"type": "function_call", "call_id": "a", "name": "add", "arguments": '{"x": 1}'},
    {"type": "function_call_output", "call_id": "a", "output": "1"},
]
PICTURE: Item = {
    "role": "user",
    "content": [
        {"type": "input_text", "text": "Picture of cell 1's output."},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
    ],
}


@pytest.mark.parametrize(
    "name",
    [
        "parallel_tool_calls",
        "stream_options",
        "strict",
        "temperature",
        "top_p",
        "reasoning_effort",
        "max_tokens",
        "tool_choice",
        "response_format",
    ],
)
@pytest.mark.parametrize("rule", [unsupported, extra_forbidden])
async def test_a_parameter_that_is_refused_is_left_out_and_that_is_remembered(
    name: str, rule: object
) -> None:
    rules = [
        unsupported(name) if rule is unsupported or name == "strict" else extra_forbidden(name)
    ]
    with ScriptedModelServer(Say("One."), Say("Two."), rules=rules) as server:
        by = model()
        reasons = {"model": "openai/gpt-5"} if name == "reasoning_effort" else {}
        asked = request(server, "chat", **PARAMETERS, **reasons)
        first = await answer(asked, by)
        second = await answer(asked, by)
        bodies = [each.body for each in server.requests]
    assert (first.error, second.error) == (None, None)
    assert (first.text, second.text) == ("One.", "Two.")
    assert len(bodies) == 3, "the first was refused once, the second not at all"
    kept = {"max_tokens": "max_completion_tokens"}.get(name)
    if kept:
        assert bodies[1][kept] == bodies[2][kept] == 100
    if name != "strict":
        assert set(bodies[0]) - set(bodies[1]) == {name}
    assert bodies[1].keys() == bodies[2].keys()


async def test_several_parameters_are_learnt_one_after_the_other() -> None:
    names = ["parallel_tool_calls", "stream_options", "strict", "temperature"]
    rules = [unsupported(name) for name in names]
    with ScriptedModelServer(Say("One."), Say("Two."), rules=rules) as server:
        by = model()
        assert (await answer(request(server, "chat", **PARAMETERS), by)).text == "One."
        assert (await answer(request(server, "chat", **PARAMETERS), by)).text == "Two."
        assert len(server.requests) == len(names) + 2


async def test_what_one_model_refuses_others_are_sent() -> None:
    def small_only(asked: RecordedRequest) -> Status | None:
        return unsupported("temperature")(asked) if asked.model == "small" else None

    with ScriptedModelServer(Say("One."), Say("Two."), rules=[small_only]) as server:
        by = model()
        await answer(request(server, "chat", model="openai/small", temperature=0.5), by)
        await answer(request(server, "chat", model="openai/large", temperature=0.5), by)
        assert ["temperature" in each.body for each in server.requests] == [True, False, True]


async def test_a_refusal_that_names_nothing_of_the_request_is_reported_at_once() -> None:
    refusal = Status(400, body={"error": {"message": "The input was flagged."}})
    with ScriptedModelServer(refusal) as server:
        answered = await answer(request(server, "chat", **PARAMETERS))
        assert len(server.requests) == 1
    assert answered.failure.code == "bad_request"
    assert "flagged" in answered.failure.message


async def test_a_refusal_that_stays_is_reported_and_nothing_is_learnt() -> None:
    text = "The temperature of this conversation is too high."
    refusal = Status(400, body={"error": {"message": text}})
    with ScriptedModelServer(refusal, refusal, Say("Yes.")) as server:
        by = model()
        answered = await answer(request(server, "chat", temperature=0.5), by)
        assert len(server.requests) == 2
        await answer(request(server, "chat", temperature=0.5), by)
        assert "temperature" in server.requests[2].body
    assert text in answered.failure.message


async def test_an_unauthorized_request_is_not_repeated() -> None:
    refusal = Status(401, body={"error": {"message": "Invalid key; temperature, tools, role."}})
    with ScriptedModelServer(refusal) as server:
        answered = await answer(request(server, "chat", **PARAMETERS))
        assert len(server.requests) == 1
    assert answered.failure.code == "authentication"


CONVERSATIONS: dict[str, list[Item]] = {
    "a context and a message": [user("The notebook is empty."), user("Hello")],
    "a call": [user("context"), user("go"), *CALLED],
    "a picture after a call": [user("context"), user("go"), *CALLED, PICTURE],
    "two turns": [
        user("context"),
        user("go"),
        *CALLED,
        PICTURE,
        {"role": "assistant", "content": "Done."},
        user("context 2"),
        user("again"),
    ],
    "an answer that was cut off": [
        user("go"),
        {"role": "assistant", "content": "I beg"},
        {"role": "assistant", "content": "I begin."},
        user("again"),
    ],
    "a beginning with an answer": [{"role": "assistant", "content": "Hello."}, user("go")],
}


@pytest.mark.parametrize("name", CONVERSATIONS)
@pytest.mark.parametrize(
    "rules",
    [[roles_alternate], [no_system_role, roles_alternate], [no_user_after_tool]],
    ids=["alternating", "no-system-role", "no-user-after-tool"],
)
async def test_a_template_with_strict_roles_gets_every_conversation(
    name: str, rules: list[object]
) -> None:
    with ScriptedModelServer(Say("One."), Say("Two."), rules=rules) as server:  # type: ignore[arg-type]
        by = model()
        asked = request(server, "chat", input=CONVERSATIONS[name])
        assert (await answer(asked, by)).text == "One."
        assert (await answer(asked, by)).text == "Two."
        assert len(server.requests) <= 3
        text = server.requests[-1].text
        assert [item.get("role") for item in server.requests[-1].items].count("system") <= 1
    assert "Be brief." in text
    for item in CONVERSATIONS[name]:
        content = item.get("content", "")
        if isinstance(content, str):
            assert content in text


async def test_a_context_and_a_message_are_one_message_from_the_start() -> None:
    with ScriptedModelServer(Say("One."), rules=[roles_alternate]) as server:
        items = CONVERSATIONS["a context and a message"]
        await answer(request(server, "chat", input=items))
        assert len(server.requests) == 1
        assert server.requests[0].items[1:] == [user("The notebook is empty.\n\nHello")]


async def test_a_plain_message_is_not_changed() -> None:
    with ScriptedModelServer(Say("One.")) as server:
        await answer(request(server, "chat"))
        assert server.requests[0].items[1:] == HELLO


@pytest.mark.parametrize("name", CONVERSATIONS)
async def test_every_message_has_text_or_parts_as_its_content(name: str) -> None:
    """llama-cpp-python refuses null, and templates write "None" for it."""
    with ScriptedModelServer(Say("One.")) as server:
        await answer(request(server, "chat", input=CONVERSATIONS[name]))
        assert [each for each in server.requests[0].items if each["content"] is None] == []


SHAPES: dict[str, tuple[int, str]] = {
    "OpenAI": (
        400,
        '{"error": {"message": "Unsupported parameter: \'NAME\' is not supported with this model.",'
        ' "type": "invalid_request_error", "param": "NAME", "code": "unsupported_parameter"}}',
    ),
    "Azure": (400, '{"error": {"message": "Unrecognized request argument supplied: NAME"}}'),
    "Mistral": (
        422,
        '{"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body",'
        ' "NAME"], "msg": "Extra inputs are not permitted", "input": false}]}}',
    ),
    "FastAPI": (
        422,
        '{"detail": [{"loc": ["body", "NAME"], "msg": "Extra inputs are not permitted"}]}',
    ),
    "vLLM": (
        400,
        "{\"object\": \"error\", \"message\": \"[{'type': 'extra_forbidden', 'loc': ('body',"
        " 'NAME'), 'msg': 'Extra inputs are not permitted'}]\", \"code\": 400}",
    ),
    "Groq": (400, '{"error": {"message": "property \'NAME\' is unsupported"}}'),
    "Gemini": (
        400,
        '[{"error": {"code": 400, "message": "Invalid JSON payload received. Unknown name'
        ' \\\\"NAME\\\\": Cannot find field.", "status": "INVALID_ARGUMENT"}}]',
    ),
    "llama.cpp": (500, '{"error": {"code": 500, "message": "Unsupported param: NAME"}}'),
    "TGI": (
        422,
        "Failed to deserialize the JSON body into the target type: NAME: invalid type: null at line"
        " 1 column 812",
    ),
    "LM Studio": (400, '{"error": "Invalid NAME type: \'object\'. Supported values: none, auto"}'),
}
"""Refusals as these servers word them; NAME is the parameter's."""


def refusing(name: str, shape: str) -> Callable[[RecordedRequest], Status | None]:
    status, text = SHAPES[shape]

    def rule(asked: RecordedRequest) -> Status | None:
        names = {*asked.body}
        for tool in asked.body.get("tools") or []:
            names |= {*tool.get("function", tool)}
        return Status(status, body=text.replace("NAME", name)) if name in names else None

    return rule


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["parallel_tool_calls", "strict"])
@pytest.mark.parametrize("api", APIS)
async def test_a_refusal_is_understood_by_the_name_in_it_whatever_its_form(
    api: str, name: str, shape: str
) -> None:
    steps = [Say("One."), Say("Two.")]
    tools = [{**TOOL, "strict": True}]
    with ScriptedModelServer(*steps, rules=[refusing(name, shape)]) as server:
        by = model()
        asked = request(server, api, parallel_tool_calls=False, tools=tools)
        assert (await answer(asked, by)).text == "One."
        assert (await answer(asked, by)).text == "Two."
        assert len(server.requests) == 3
        assert server.requests[-1].tool_names == ["add"]


@pytest.mark.parametrize(
    "name",
    [
        "temperature",
        "top_p",
        "parallel_tool_calls",
        "tool_choice",
        "strict",
        "max_output_tokens",
        "reasoning",
        "text",
    ],
)
async def test_a_parameter_of_the_responses_api_is_learnt_as_well(name: str) -> None:
    with ScriptedModelServer(Say("One."), Say("Two."), rules=[refusing(name, "OpenAI")]) as server:
        by = model()
        reasons = {"model": "openai/gpt-5.3-codex"} if name == "reasoning" else {}
        asked = request(server, "responses", **PARAMETERS, **reasons)
        assert (await answer(asked, by)).text == "One."
        assert (await answer(asked, by)).text == "Two."
        bodies = [each.body for each in server.requests]
    refused = [
        name in each or (name == "strict" and "strict" in each["tools"][0]) for each in bodies
    ]
    assert refused == [True, False, False]


@pytest.mark.parametrize("refused", ["max_tokens", "max_completion_tokens"])
@pytest.mark.parametrize("name", ["openai/scripted", "openai/o3-mini", "openai/gpt-5"])
async def test_either_name_of_the_limit_gives_way_to_the_other(name: str, refused: str) -> None:
    other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}[refused]

    def rule(asked: RecordedRequest) -> Status | None:
        if refused not in asked.body:
            return None
        message = f"Unsupported parameter: '{refused}'. Use '{other}' instead."
        return Status(400, body={"error": {"message": message, "param": refused}})

    with ScriptedModelServer(Say("One."), Say("Two."), rules=[rule]) as server:
        by = model()
        asked = request(server, "chat", model=name, max_output_tokens=100)
        assert (await answer(asked, by)).text == "One."
        before = len(server.requests)
        assert (await answer(asked, by)).text == "Two."
        assert len(server.requests) == before + 1 <= 3
        assert server.requests[-1].body[other] == 100
        assert refused not in server.requests[-1].body


async def test_a_server_without_the_developer_role_gets_the_instructions_otherwise() -> None:
    def rule(asked: RecordedRequest) -> Status | None:
        if all(each["role"] != "developer" for each in asked.items):
            return None
        return Status(400, body={"error": {"message": "Unexpected role: developer"}})

    with ScriptedModelServer(Say("One."), Say("Two."), rules=[rule]) as server:
        by = model()
        asked = request(server, "chat", model="openai/o3-mini")
        assert (await answer(asked, by)).text == "One."
        assert (await answer(asked, by)).text == "Two."
        assert len(server.requests) <= 3
        assert "Be brief." in server.requests[-1].text


async def test_what_the_user_set_to_false_or_left_open_is_not_sent() -> None:
    with ScriptedModelServer(default=Say("Yes.")) as server:
        await answer(request(server, "chat", tools=[], parallel_tool_calls=False, stream=False))
        sent = server.requests[0].body
        for name in (
            "parallel_tool_calls", "stream_options", "tools", "tool_choice", "temperature", "top_p",
            "reasoning_effort", "response_format", "max_tokens", "max_completion_tokens",
        ):  # fmt: skip
            assert name not in sent
        assert not sent.get("stream")
        await answer(request(server, "chat", parallel_tool_calls=True))
        assert "parallel_tool_calls" not in server.requests[1].body

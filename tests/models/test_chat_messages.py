"""Items of the Responses API as messages of chat completions."""

from __future__ import annotations

import json
from typing import Any

from jupyter_datalayer_agent.models import Item
from jupyter_datalayer_agent.models.chat_messages import chat_messages, chat_tool_choice

IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"}


def messages(*items: Item, thinking: bool = True) -> list[dict[str, Any]]:
    return chat_messages("", items, thinking=thinking)


def user(text: str) -> Item:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def said(text: str) -> Item:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
            "content": content}  # fmt: skip


def call(call_id: str, arguments: Any = "{}") -> Item:
    return {"type": "function_call", "id": f"fc_{call_id}", "status": "completed", "name": "f",
            "call_id": call_id, "arguments": arguments}  # fmt: skip


def output(call_id: str) -> Item:
    return {"type": "function_call_output", "call_id": call_id, "output": f"of {call_id}"}


def thought(text: str, **more: Any) -> Item:
    return {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": text}],
            **more}  # fmt: skip


def roles(found: list[dict[str, Any]]) -> list[str]:
    return [message["role"] for message in found]


def test_text_and_calls_of_one_answer_are_one_message_and_their_outputs_follow() -> None:
    found = messages(
        user("go"), said("Looking."), call("a"), call("b"), output("a"), output("b"), said("Done.")
    )
    assert roles(found) == ["user", "assistant", "tool", "tool", "assistant"]
    assert found[1]["content"] == "Looking."
    assert [each["id"] for each in found[1]["tool_calls"]] == ["a", "b"]
    assert [each["tool_call_id"] for each in found[2:4]] == ["a", "b"]


def test_calls_of_two_answers_are_two_messages() -> None:
    found = messages(call("a"), output("a"), call("b"), output("b"))
    assert roles(found) == ["assistant", "tool", "assistant", "tool"]


def test_pictures_between_the_outputs_of_parallel_calls_come_after_the_last() -> None:
    picture: Item = {"role": "user", "content": [IMAGE]}
    found = messages(call("a"), call("b"), output("a"), picture, output("b"), said("Seen."))
    assert roles(found) == ["assistant", "tool", "tool", "user", "assistant"]


def test_pictures_keep_their_text_and_detail_and_text_alone_is_a_string() -> None:
    mixed: Item = {"role": "user", "content": [{"type": "input_text", "text": "b"}, IMAGE]}
    (plain,) = messages(user("a"))
    assert plain["content"] == "a"
    (alone,) = messages(mixed)
    assert alone["content"] == [
        {"type": "text", "text": "b"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
    ]


def test_what_the_user_side_says_in_succession_is_one_message() -> None:
    picture: Item = {"role": "user", "content": [IMAGE]}
    (text,) = messages(user("context"), user("message"))
    assert text == {"role": "user", "content": "context\n\nmessage"}
    (mixed,) = messages(user("context"), picture, user("message"))
    assert [part["type"] for part in mixed["content"]] == ["text", "image_url", "text"]
    held = messages(call("a"), call("b"), output("a"), user("one"), user("two"), output("b"))
    assert roles(held) == ["assistant", "tool", "tool", "user"]
    assert held[-1]["content"] == "one\n\ntwo"


def test_reasoning_goes_with_what_it_led_to() -> None:
    (answer, _) = messages(thought("Hm."), call("a"), output("a"))
    assert answer["reasoning_content"] == "Hm."
    assert answer["tool_calls"]


def test_reasoning_that_led_to_nothing_is_left_out() -> None:
    assert roles(messages(user("a"), thought("Hm."), user("b"))) == ["user"]


def test_reasoning_is_left_out_where_it_is_not_wanted() -> None:
    (answer,) = messages(thought("Hm."), said("Yes."), thinking=False)
    assert answer == {"role": "assistant", "content": "Yes."}


def test_signed_thinking_goes_back_as_it_came() -> None:
    blocks = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]
    (answer,) = messages(thought("Hm.", encrypted_content=json.dumps(blocks)), said("Yes."))
    assert answer["thinking_blocks"] == blocks


def test_encrypted_reasoning_of_the_responses_api_is_no_thinking() -> None:
    (answer,) = messages(thought("Hm.", encrypted_content="gAAA"), said("Yes."))
    assert "thinking_blocks" not in answer


def test_a_refusal_is_what_the_model_said() -> None:
    content = [{"type": "refusal", "refusal": "No."}]
    (answer,) = messages({"type": "message", "role": "assistant", "content": content})
    assert answer["content"] == "No."


def test_arguments_are_always_json_since_servers_parse_them() -> None:
    (answer,) = messages(call("a", ""), call("b", '{"x": 1,'), call("c", '{"x": 1}'))
    written = [each["function"]["arguments"] for each in answer["tool_calls"]]
    assert written == ["{}", '{"invalid_json": "{\\"x\\": 1,"}', '{"x": 1}']


def test_more_items_leave_the_messages_before_them_as_they_were() -> None:
    items = [user("go"), said("Looking."), call("a"), output("a")]
    assert messages(*items, said("Done."), user("more"))[:3] == messages(*items)


def test_a_forced_tool_is_named_in_chats_form() -> None:
    forced = chat_tool_choice({"type": "function", "name": "f"})
    assert forced == {"type": "function", "function": {"name": "f"}}
    assert chat_tool_choice("required") == "required"

"""What servers ask the user for during a call: the form, the answer, and when nobody answers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.protocol.mcp import FormAnswer
from jupyter_datalayer_agent.tools.mcp.elicitations import BadForm, form_of, problem_of
from tests.support.mcp.fixture import QUESTION

from .client import User, client, fixture, until

SEAT = {"name": "Ada", "age": 36, "class": "b"}


async def test_the_user_is_asked_in_the_words_of_the_server_and_it_gets_the_answer(
    tmp_path: Path,
) -> None:
    async with client(tmp_path, {"fix": fixture("bad")}) as mcp:
        await mcp.begin()
        user = User(FormAnswer(action="accept", values=SEAT), FormAnswer(action="decline"))
        accepted = (await mcp.call("fix__asks", ask_form=user)).result
        assert json.loads(str(accepted.output)) == {"action": "accept", "content": SEAT}
        declined = (await mcp.call("fix__asks", ask_form=user)).result
        assert json.loads(str(declined.output)) == {"action": "decline"}
        assert user.problems[0] is None
        [(message, form), _] = user.asked
        assert message == "Which seat?\nThe flight is <b>full</b>."
        assert form.server == "fix"
        assert form.fields["required"] == ["name", "class"]
        assert form.fields["properties"]["window"] == {
            "type": "boolean", "title": "At the window", "default": True
        }  # fmt: skip
        assert form.fields["properties"]["class"]["oneOf"] == [
            {"const": "e", "title": "Economy"}, {"const": "b", "title": "Business"}
        ]  # fmt: skip


async def test_while_the_user_is_asked_a_call_takes_longer_and_others_go_on(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    entry = fixture("plain", "bad", MCP_FIXTURE_LOG=str(log))
    async with client(tmp_path, {"fix": entry}, call_seconds=0.3) as mcp:
        await mcp.begin()
        user = User()
        asking = asyncio.ensure_future(mcp.call("fix__asks", ask_form=user))
        await until(lambda: len(user.asked) == 1)
        echo = (await mcp.call("fix__echo", {"text": "meanwhile"})).result
        assert echo.output == "meanwhile"
        # This one would be over in 0.3 s: its time stands still, too, since it may be what asks.
        hanging = asyncio.ensure_future(mcp.call("fix__hangs"))
        done, _ = await asyncio.wait([asking, hanging], timeout=0.6)
        assert not done
        user.decide(FormAnswer(action="accept", values=SEAT))
        assert json.loads(str((await asking).result.output))["content"] == SEAT
        hung = (await hanging).result
        assert hung.error is not None
        assert hung.error.code == "timeout"


async def test_a_call_that_is_stopped_cancels_what_it_asks(tmp_path: Path) -> None:
    async with client(tmp_path, {"fix": fixture("plain", "bad")}) as mcp:
        await mcp.begin()
        user = User()
        asking = asyncio.ensure_future(mcp.call("fix__asks", ask_form=user))
        await until(lambda: len(user.asked) == 1)
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
        assert user.cancelled == 1
        # The server goes on, and may ask again.
        again = User(FormAnswer(action="decline"))
        declined = (await mcp.call("fix__asks", ask_form=again)).result
        assert json.loads(str(declined.output)) == {"action": "decline"}


async def test_a_server_that_withdraws_or_dies_closes_its_form(tmp_path: Path) -> None:
    async with client(tmp_path, {"fix": fixture("bad")}) as mcp:
        await mcp.begin()
        user = User()
        withdrawn = (await mcp.call("fix__withdraws", ask_form=user)).result
        assert json.loads(str(withdrawn.output)) == {"action": "cancel"}
        # It may have been withdrawn before it was shown.
        assert user.cancelled == len(user.asked)
        dying = User()
        asking = asyncio.ensure_future(mcp.call("fix__asks", ask_form=dying))
        await until(lambda: len(dying.asked) == 1)
        await mcp.call("fix__dies")
        died = (await asking).result
        assert died.error is not None
        assert "ended during the call" in died.error.message
        assert dying.cancelled == 1


async def test_what_is_no_flat_form_is_refused_and_said_in_the_log(tmp_path: Path) -> None:
    async with client(tmp_path, {"fix": fixture("bad")}) as mcp:
        await mcp.begin()
        user = User()
        nested = {"type": "object", "properties": {"a": {"type": "object"}}}
        refused = await mcp.call("fix__asks", {"requestedSchema": nested}, ask_form=user)
        assert json.loads(str(refused.result.output))["code"] == -32602
        address = {"mode": "url", "url": "https://example.org", "elicitationId": "1"}
        refused = await mcp.call("fix__asks", address, ask_form=user)
        assert json.loads(str(refused.result.output))["code"] == -32602
        assert user.asked == []
        [server] = mcp.servers.usable()
        assert "not supported" in "\n".join(mcp.servers.log_of(server))


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (SEAT, None),
        ({**SEAT, "window": False, "weight": 70.5}, None),
        ({"name": "Ada"}, "class is required."),
        ({**SEAT, "name": "A"}, "Name: 'A' is not a valid value."),
        ({**SEAT, "age": 200}, "Age: '200' is not a valid value."),
        ({**SEAT, "age": 1.5}, "Age: '1.5' is not a valid value."),
        ({**SEAT, "age": True}, "Age: 'True' is not a valid value."),
        ({**SEAT, "weight": float("nan")}, "weight: 'nan' is not a valid value."),
        ({**SEAT, "window": "yes"}, "At the window: 'yes' is not a valid value."),
        ({**SEAT, "class": "first"}, "class: 'first' is not a valid value."),
        ({**SEAT, "other": 1}, "The form has no field 'other'."),
    ],
)
def test_values_are_checked_against_the_form(values: dict[str, Any], problem: str | None) -> None:
    assert problem_of(form_of("fix", QUESTION["requestedSchema"]), values) == problem


@pytest.mark.parametrize(
    "properties",
    [
        {"a": {"type": "array", "items": {"type": "string"}}},
        {"a": {"$ref": "#/x"}},
        {"a": {"type": "string", "enum": []}},
        {"a": {"type": "string", "enum": [1, 2]}},
        {"__proto__": {"type": "string"}},
        {"": {"type": "string"}},
        {str(number): {"type": "string"} for number in range(51)},
        [],
    ],
)
def test_forms_that_cannot_be_shown(properties: Any) -> None:
    with pytest.raises(BadForm):
        form_of("fix", {"type": "object", "properties": properties})


def test_only_what_is_known_of_a_schema_is_passed_on() -> None:
    wild = {
        "type": "string", "pattern": "(a+)+$", "format": "regex", "title": " \u202eA\nB ",
        "default": 3, "x-run": "alert(1)", "minLength": "2",
    }  # fmt: skip
    form = form_of("fix", {"type": "object", "properties": {"a": wild}, "$defs": {}, "allOf": []})
    assert form.fields == {
        "type": "object",
        "properties": {"a": {"type": "string", "title": "A B"}},
        "required": [],
    }

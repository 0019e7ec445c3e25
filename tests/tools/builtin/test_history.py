"""The tools of the history, called as a program and as the model calls them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from jupyter_datalayer_agent.notebook.renames import Renames
from jupyter_datalayer_agent.protocol.answers import ResponseType
from jupyter_datalayer_agent.protocol.requests import ToolCallRecord
from jupyter_datalayer_agent.protocol.tools import ShareKind, ToolResult
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.tools.builtin import builtin_registry
from jupyter_datalayer_agent.tools.builtin.history import GetContextByProvenance
from jupyter_datalayer_agent.tools.context import ToolContext
from jupyter_datalayer_agent.tools.dispatcher import Dispatcher
from jupyter_datalayer_agent.tools.gate import Gate
from jupyter_datalayer_agent.tools.redaction import Sharing
from jupyter_datalayer_agent.tools.schema import compact_schema
from tests.store.chats import Chat, open_store


class WithholdsOutputs:
    """As the setting ``outputs: never`` does."""

    async def refused(self, parts: Any, about: Any, question: Any) -> dict[ShareKind, str]:
        return {"outputs": "as they choose"}


async def call(
    store: Store,
    name: str,
    turn_id: str | None = None,
    sharing: Sharing | None = None,
    **arguments: Any,
) -> ToolResult:
    """What the model reads of a call in Ask mode, in the turn ``turn_id``."""

    class Nowhere:
        root_dir = None
        renames = Renames()

    context = ToolContext(
        gate=Gate(mode="ask"),
        notebooks=Nowhere(),  # type: ignore[arg-type]
        kernel_timeout_seconds=1,
        past=store.past,
        turn_id=turn_id,
        sharing=sharing,
    )
    return (await Dispatcher(builtin_registry(), context).call(name, arguments)).for_model


async def two_turns(store: Store) -> tuple[str, str]:
    chat = await Chat.new(store, "Cars")
    await chat.start("Plot df_train")
    await chat.emit(
        tool_calls=[
            ToolCallRecord(
                call_id=f"c{n}",
                name="executeCode",
                arguments={"code": "df_train.plot()"},
                status="ok",
                output={"text": "x" * 5_000},
            )
            for n in range(30)
        ]
    )
    await chat.finish("y" * 20_000)
    first = chat.turn_id
    await chat.start("And df_test?")
    await chat.finish("Same.")
    return first, chat.turn_id


async def test_a_search_leaves_out_the_message_that_is_being_answered(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        first, _ = await two_turns(store)
        chat = await Chat.new(store)
        await chat.start("Where is df_train?")
        result = await call(store, "searchChatHistory", chat.turn_id, query="df_train", limit=1)
        assert [hit["turnId"] for hit in result.output["results"]] == [first]
        assert result.output["results"][0] == {
            "turnId": first,
            "sessionId": (await store.turn_reader.get(first)).session_id,
            "session": "Cars",
            "role": "user",
            "at": result.output["results"][0]["at"],
            "snippet": "Plot df_train",
        }
        nothing = await call(store, "search_chat_history", query="unicorn")
        assert (nothing.ok, nothing.output) == (True, {"results": []})
        recent = await call(store, "getRecentTurns", chat.turn_id, limit=1)
        assert [turn["message"] for turn in recent.output["turns"]] == ["And df_test?"]


async def test_a_turn_is_read_with_its_calls_cut_short(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        first, _ = await two_turns(store)
        result = await call(store, "getTurnById", turnId=first)
        assert result.output["message"] == "Plot df_train"
        assert result.output["reply"].endswith("[... 14000 more characters]")
        assert len(result.output["toolCalls"]) == 20
        assert result.output["moreToolCalls"] == 10
        assert len(str(result.output)) < 30_000
        missing = await call(store, "getTurnById", turnId="turn_made_up")
        assert missing.error is not None
        assert missing.error.code == "not_found"
        assert "searchChatHistory" in (missing.error.hint or "")


async def test_outputs_of_earlier_turns_are_withheld_as_the_setting_is_now(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        first, _ = await two_turns(store)
        result = await call(store, "getTurnById", sharing=WithholdsOutputs(), turnId=first)
        (output,) = {each["output"] for each in result.output["toolCalls"]}
        assert output == "[output of executeCode withheld as they choose]"
        assert result.output["message"] == "Plot df_train"


async def test_an_answer_is_read_by_its_provenance(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        _, second = await two_turns(store)
        (key,) = await store.past.responses_of(second)
        arguments = key.to_wire()
        read = await call(store, "getTurnById", turnId=second)
        assert read.output["provenance"] == [arguments]
        result = await call(store, "getContextByProvenance", **arguments)
        assert (result.output["text"], result.output["message"]) == ("Same.", "And df_test?")
        wrong = await call(store, "getContextByProvenance", **{**arguments, "responseIndex": 7})
        assert wrong.error is not None
        assert wrong.error.code == "not_found"
        invalid = await call(store, "getContextByProvenance", **{**arguments, "responseType": "x"})
        assert invalid.error is not None
        assert invalid.error.code == "invalid_arguments"


def test_the_types_of_answers_are_in_the_schema() -> None:
    arguments = compact_schema(GetContextByProvenance)["properties"]
    assert arguments["responseType"]["enum"] == list(get_args(ResponseType))

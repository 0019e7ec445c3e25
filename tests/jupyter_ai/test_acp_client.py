"""The ACP agent, used from Jupyter AI by its own client of the protocol."""

from __future__ import annotations

from typing import Any

from tests.jupyter_ai.chat import Chat, open_chat, run
from tests.support.jupyter import REPOSITORY, RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.planning import add
from tests.support.sessions import new_notebook, sources

PERSONA = "jupyter-ai-personas::datalayer_acp_persona::DatalayerAcpPersona"


def persona() -> str:
    """The file that docs/jupyter-ai.md shows."""
    text = (REPOSITORY / "docs" / "jupyter-ai.md").read_text(encoding="utf-8")
    return text.partition("```python\n")[2].partition("```")[0]


def cards(chat: Chat) -> list[dict[str, Any]]:
    """The tool calls that the chat shows."""
    return [
        call
        for message in chat.messages.values()
        for call in (message.get("metadata") or {}).get("tool_calls", ())
    ]


def test_jupyter_ais_own_client_of_the_protocol_drives_the_agent(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    folder = server.root / "acp"
    personas = folder / ".jupyter" / "personas"
    personas.mkdir(parents=True)
    (personas / "datalayer_acp_persona.py").write_text(persona())
    notebook = folder / "cars.ipynb"
    new_notebook(notebook, "1")

    async def use() -> None:
        async with open_chat(server, "acp/editor.chat") as chat:
            model.script(
                Call("getNotebookCells"),
                add("6 * 7"),
                Call("deleteNotebookCells", {"cellIds": ["c0"]}),
                Say("It is 42."),
            )
            await chat.say("Add a cell", files=("acp/cars.ipynb",), persona=PERSONA)
            await chat.until(lambda: "allow_session" in str(cards(chat)))
            asked = cards(chat)[-1]
            decision = {
                "session_id": asked["session_id"],
                "tool_call_id": asked["tool_call_id"],
                "option_id": "allow_once",
            }
            assert server.request("POST", "/ai/acp/permissions", json=decision).ok
            await chat.until(lambda: "It is 42." in str(chat.messages))
            added = next(each for each in cards(chat) if each["kind"] == "edit")
            assert added["status"] == "completed"
            assert added["diffs"] == [{"path": str(notebook), "new_text": "6 * 7"}]
            # It is a session of this very server.
            assert server.get("sessions")["sessions"][0]["id"] == asked["session_id"]

    run(use())
    assert sources(notebook) == ["6 * 7"]

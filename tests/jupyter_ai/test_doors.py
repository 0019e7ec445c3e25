"""By the persona, too: what changes while its question waits is asked anew, and does not run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.jupyter_ai.chat import open_chat, run
from tests.support.doors import CHANGES, Waiting, changed_while_it_waits
from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer


def persona(waiting: Waiting) -> None:
    waiting.model.script(waiting.call, Say("Done."))

    async def use() -> None:
        async with open_chat(waiting.server, f"{waiting.folder.name}.chat") as chat:
            await chat.say("go", files=(waiting.folder.notebook,), mode="agent")
            for count in (1, 2):
                asked = await chat.reply("**Approval needed:**", count)
                await chat.say(await asyncio.to_thread(waiting.decide, asked))
            await chat.reply("Done.", 3)

    run(use())


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_while_the_persona_waited_is_shown_and_does_not_run_unseen(
    server: RunningServer, model: ScriptedModelServer, change: Callable[[Waiting], None]
) -> None:
    changed_while_it_waits(server, model, persona, change)

"""``executeCode`` without a notebook: the conversation's scratch kernel, and its limits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jupyter_datalayer_agent.notebook.kernel.limits import MIB, Limits
from jupyter_datalayer_agent.protocol.tools import ToolResult
from jupyter_datalayer_agent.tools.builtin import builtin_registry
from jupyter_datalayer_agent.tools.context import ToolContext
from jupyter_datalayer_agent.tools.dispatcher import Dispatcher
from jupyter_datalayer_agent.tools.gate import Gate
from tests.notebook.support import World, world


async def run(
    w: World, code: str, session: str = "s1", tool: str = "python_repl", **arguments: Any
) -> ToolResult:
    gate = Gate(mode="agent", location="api")
    context = ToolContext(
        gate=gate, notebooks=w.service, kernel_timeout_seconds=60, session_id=session
    )
    dispatcher = Dispatcher(builtin_registry(), context)
    return (await dispatcher.call(tool, {"code": code, **arguments})).result


async def test_variables_stay_for_the_conversation_and_only_for_it(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        first = await run(w, "x = 41")
        second = await run(w, "print(x + 1)")
        other = await run(w, "x", session="s2")
        [mine, _] = [each["id"] for each in await w.service.kernels()]
        by_id = await run(w, "print(x)", session="s3", tool="executeCode", kernelId=mine)
    assert first.output["note"].startswith("This is a new scratch kernel")
    assert second.output == {"status": "ok", "outputs": "42"}
    assert other.error is not None
    assert other.error.message == "The code failed: NameError: name 'x' is not defined"
    assert by_id.output["outputs"] == "41"


async def test_a_limit_that_was_passed_is_reported_with_a_hint_and_the_next_call_works(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        w.service.scratch._limits = lambda: Limits(memory=300 * MIB, processes=2, seconds=5)
        # What a process has not sent yet is lost when it is killed: it gets a second for that.
        prints = "import time\nprint('first', flush=True)\ntime.sleep(1)"
        too_large = await run(w, f"{prints}\nx = b'x' * (900 << 20)\nwhile 1: pass")
        after = await run(w, "print('alive')")
        many = "import subprocess, time\np = [subprocess.Popen(['sleep', '60']) for _ in 'abcd']"
        too_many = await run(w, f"kept = 1\n{many}\ntime.sleep(60)")
        too_long = await run(w, "while True: pass")
        kept = await run(w, "print(kept)")

    assert too_large.error is not None
    assert too_large.error.code == "kernel_error"
    assert "the limit of a scratch kernel, with its child processes, is 300 MiB" in (
        too_large.error.message
    )
    assert "variables are gone" in too_large.error.message
    assert "The kernel of a notebook has no such limit" in (too_large.error.hint or "")
    assert too_large.output["outputs"] == "first"
    assert after.output["outputs"] == "alive"
    assert "new scratch kernel" in after.output["note"]

    assert too_many.error is not None
    # It is seen as soon as there are too many, maybe before there are all.
    expected = r"[34] child processes at once; the limit of a scratch kernel is 2"
    assert re.search(expected, too_many.error.message)
    assert too_long.error is not None
    assert (too_long.error.code, "5 s" in too_long.error.message) == ("timeout", True)
    assert kept.output == {"status": "ok", "outputs": "1"}

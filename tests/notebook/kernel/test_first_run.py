"""The first run of the agent's in a kernel is guarded, also where a page sends it."""

from __future__ import annotations

from pathlib import Path

from nbformat import v4, write

from jupyter_datalayer_agent.notebook.kernel.acts import Act, ActDecision, asking

from ..support import world


async def test_a_failing_cell_of_the_users_does_not_leave_the_pages_first_run_unguarded(
    tmp_path: Path,
) -> None:
    """It drops what waits in the kernel's queue, the installation of the guard among it."""
    asked: list[str] = []

    async def ask(act: Act) -> ActDecision:
        asked.append(f"{act.verb} {act.target}")
        return ActDecision(False)

    async with world(tmp_path) as w:
        write(v4.new_notebook(), w.root / "a.ipynb")
        (w.root / "cars.csv").write_text("a\n", encoding="utf-8")
        await w.service.execute_code("x = 1", path="a.ipynb")
        [kernel] = await w.service.kernels()
        page = w.kernels.get_kernel(kernel["id"]).client()
        page.start_channels()
        await page.wait_for_ready(timeout=60)
        failing = page.execute("import time; time.sleep(2); 1 / 0", stop_on_error=True)
        while (heard := await page.get_iopub_msg(timeout=60))["msg_type"] != "execute_input":
            assert heard["msg_type"] == "status"
        with asking(ask):
            async with w.service._kernels.guarded(kernel["id"]) as run:
                await run.allowed([(None, "")])
                content = {"code": "import os; os.remove('cars.csv')", "silent": False}
                sent = page.session.msg("execute_request", content, metadata=run.metadata)
                page.shell_channel.send(sent)
                replies = {}
                while sent["header"]["msg_id"] not in replies:
                    reply = await page.get_shell_msg(timeout=60)
                    replies[reply["parent_header"]["msg_id"]] = reply["content"]
        page.stop_channels()
    assert replies[failing]["ename"] == "ZeroDivisionError"
    assert replies[sent["header"]["msg_id"]]["ename"] == "PermissionError"
    assert asked == ["delete cars.csv"]

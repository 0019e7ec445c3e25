"""When a kernel is asked which libraries it has imported."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.kernel.connection import KernelConnection

from ..support import World, code, until, world, write_notebook


async def run_first(w: World, document: Any) -> None:
    """Run in a kernel that has just started, until Jupyter has noticed that it is idle again: it
    follows its kernels over connections of its own, which may be late for the first run."""
    manager = w.service.libraries._kernels.manager
    while True:
        await document.run(["a"], timeout=60)
        (kernel_id,) = manager.list_kernel_ids()
        for _ in range(100):
            if manager.get_kernel(kernel_id).execution_state == "idle":
                return
            await asyncio.sleep(0.02)


async def ask(w: World) -> dict[str, str]:
    """Ask as soon as the kernel is idle, and wait for the answer."""
    libraries = w.service.libraries
    manager = libraries._kernels.manager
    (kernel_id,) = manager.list_kernel_ids()
    await until(lambda: manager.get_kernel(kernel_id).execution_state == "idle")
    libraries.ask("a.ipynb")
    await libraries._asking["a.ipynb"]
    return dict(await libraries.of("a.ipynb"))


async def test_a_kernel_that_did_nothing_since_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    send = KernelConnection.send_silent

    def sent(self: KernelConnection, *args: Any) -> str:
        asked.append(args)
        return send(self, *args)

    monkeypatch.setattr(KernelConnection, "send_silent", sent)
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "x = 1"), code("b", "import numpy")])
        document = await w.service.open("a.ipynb")
        await run_first(w, document)
        assert "numpy" not in await ask(w)
        asked.clear()
        for _ in range(3):
            assert "Python" in await ask(w)
        assert len(asked) <= 1, "the first may have been seen to begin after its answer"

        # What another client runs counts, too.
        manager = w.service.libraries._kernels.manager
        (kernel_id,) = manager.list_kernel_ids()
        client = manager.get_kernel(kernel_id).client()
        client.start_channels()
        await client.wait_for_ready(timeout=60)
        await client.execute("import numpy", reply=True, timeout=60)
        client.stop_channels()
        while "numpy" not in await ask(w):
            pass  # its reply came before what it published

        await manager.restart_kernel(kernel_id)
        await run_first(w, document)
        assert "numpy" not in await ask(w)

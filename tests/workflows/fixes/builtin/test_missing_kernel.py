"""No kernel: a notebook whose kernel is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.protocol.workflows import FixInfo
from jupyter_datalayer_agent.workflows.fix import CellFailure
from jupyter_datalayer_agent.workflows.fixes.probe import NotebookProbe
from jupyter_datalayer_agent.workflows.fixes.registry import find_fixes
from tests.notebook.support import BASH_SPEC, install_spec

from .support import Bench, bench


async def found(b: Bench, language: str) -> list[FixInfo]:
    document = await b.world.service.open(b.path)
    cells = (await document.read()).cells
    failure = CellFailure(
        b.path, cells[0], cells, None, language, no_kernel=True, not_run=[cells[0].id]
    )
    return await find_fixes(failure, NotebookProbe(b.world.service, b.path))


async def test_a_kernel_of_the_notebooks_language_is_selected(tmp_path: Path) -> None:
    gone = {"kernelspec": {"name": "gone", "display_name": "Gone", "language": "python"}}
    specs = install_spec(tmp_path / "specs", "bash", BASH_SPEC)
    async with bench(tmp_path, ["x = 1"], metadata=gone, kernel_dirs=[specs]) as b:
        with pytest.raises(DocumentError, match="gone"):
            await b.run("a")
        (fix,) = await found(b, "python")
        assert fix.safe
        assert [call.name for call in fix.calls] == ["selectKernel", "runNotebookCells"]
        await b.apply(fix)
        assert (await b.state())["a"] == ("x = 1", "ok")
        (other,) = await found(b, "bash")
        assert other.calls[0].arguments["kernelName"] == "bash"
        assert await found(b, "julia") == []

"""What looks at a kernel for an error fix changes nothing, whatever its code does."""

from __future__ import annotations

from pathlib import Path

import nbformat

from jupyter_datalayer_agent.workflows.fixes.probe import NotebookProbe
from tests.notebook.support import world


async def test_a_probe_is_denied_what_would_ask_and_reads_the_rest(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        nbformat.write(nbformat.v4.new_notebook(), w.root / "a.ipynb")
        (w.root / "cars.csv").write_text("a\n", encoding="utf-8")
        await w.service.execute_code("x = 1", path="a.ipynb")
        probe = NotebookProbe(w.service, "a.ipynb")
        removed = await probe.compute("import os; os.remove('cars.csv'); print(1)")
        read = await probe.compute("print(len(open('cars.csv').read()) + x)")
        kept = (w.root / "cars.csv").exists()
    assert (removed, kept, read) == (None, True, 3)

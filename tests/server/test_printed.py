"""A cell that prints very much: its begin and end are kept, in bounded memory."""

from __future__ import annotations

import nbformat
import psutil

from jupyter_datalayer_agent.protocol.limits import (
    MAX_PRINTED_CHARACTERS,
    MAX_PRINTED_END_CHARACTERS,
)
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.sessions import new_notebook

PRINTED = 100_000_000


def test_the_begin_and_the_end_of_what_a_cell_prints_are_kept(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    path = server.root / "printed.ipynb"
    new_notebook(path, f"for _ in range({PRINTED // 10_000}): print('x' * 9_999)\nprint('end')")
    model.script(Call("runNotebookCells", {"cellIds": ["c0"]}), Say("Done."))
    assert server.process is not None
    process = psutil.Process(server.process.pid)
    before = process.memory_info().rss
    server.post(
        "chat",
        {
            "message": "Run it",
            "mode": "agent",
            "approval": "never",
            "attachments": [{"kind": "notebook", "path": path.name}],
            "activeNotebook": path.name,
        },
    )
    grown = process.memory_info().rss - before
    begin, end = nbformat.read(path, as_version=4).cells[0].outputs
    assert len(begin.text) == MAX_PRINTED_CHARACTERS
    left_out = PRINTED + len("end\n") - MAX_PRINTED_CHARACTERS
    assert end.text.endswith("x\nend\n")
    assert "characters left out" in end.text
    assert len(end.text) < MAX_PRINTED_END_CHARACTERS + 20_000 < left_out
    assert grown < 300_000_000

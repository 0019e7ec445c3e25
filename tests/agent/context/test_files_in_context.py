"""How much of a text file, and of a Lexical document, a message is sent with."""

from __future__ import annotations

import json

import pytest

from jupyter_datalayer_agent.notebook.lexical.block_types import new_blocks
from jupyter_datalayer_agent.notebook.lexical.convert import new_document
from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer

LINES = 3_000


@pytest.mark.parametrize(
    ("name", "shown"), [("long.csv", 50), ("long.PSV", 50), ("long.py", LINES), ("new.csv", 20)]
)
def test_an_attached_file_of_data_is_sent_with_its_beginning(
    server: RunningServer, model: ScriptedModelServer, name: str, shown: int
) -> None:
    count = 20 if name == "new.csv" else LINES
    (server.root / name).write_text("".join(f"r{number},1\n" for number in range(count)))
    model.script(Say("Done."))
    server.post("chat", {"message": "Well?", "attachments": [{"kind": "file", "path": name}]})
    text = model.requests[-1].text
    assert f"r{shown - 1},1" in text
    assert f"r{shown},1" not in text
    assert ("(cut)" in text) == (shown < count)


def test_a_data_file_in_one_line_is_bounded(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    (server.root / "wide.csv").write_text("1234567," * 10_000)
    model.script(Say("Done."))
    server.post("chat", {"message": "Well?", "attachments": [{"kind": "file", "path": "wide.csv"}]})
    assert model.requests[-1].text.count("1234567,") == 10_000 // 8


def test_a_lexical_document_is_sent_within_the_characters_of_a_notebook(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    texts = ["first short", *(f"{letter} " * 4_000 for letter in "uvwxyz"), "last short"]
    nodes = [node for each in texts for node in new_blocks("paragraph", each)]
    path = "long.dlex"
    (server.root / path).write_text(json.dumps(json.loads(new_document(nodes))))
    model.script(Say("Done."))
    body = {"message": "Well?", "activeNotebook": path}
    server.post("chat", {**body, "attachments": [{"kind": "file", "path": path}]})
    text = model.requests[-1].text
    assert "first short" in text
    assert "last short" in text
    counts = [text.count(f"{letter} {letter}") for letter in "uvwxyz"]
    assert len(set(counts)) == 1
    assert 1_500 <= 2 * counts[0] <= 20_000 // 6
    assert "of 8000 characters" in text or "of 7999 characters" in text

"""Lexical's own parser as the judge of documents: one process for all of a test's documents."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ORACLE = Path(__file__).with_name("oracle.mjs")


def printed(documents: Iterable[str]) -> list[dict[str, Any]]:
    """What Lexical prints of each document after it has parsed it: ``{ok, text or error}``."""
    lines = [json.dumps(json.loads(each)) for each in documents]
    done = subprocess.run(
        ["node", str(ORACLE)],
        input="\n".join([*lines, ""]),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines)
    return answers


def assert_lexical(documents: Iterable[str]) -> None:
    """Each is parsed by Lexical, and printed with the same content."""
    documents = list(documents)
    for document, answer in zip(documents, printed(documents), strict=True):
        assert answer["ok"], f"{answer['error']}\n{document[:2000]}"
        assert json.loads(answer["text"]) == json.loads(document)

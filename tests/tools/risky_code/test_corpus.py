"""How often real cells ask. Where they come from: ``corpus-licenses.md``.

``label`` is by hand: ``none``, ``writes`` (to a file, which asks where it exists) and ``acts``
(asks always). ``half``: whether the recogniser was tuned on the cell's package, or only measured
on it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.tools.risky_code import Place, actions_in

CELLS = json.loads((Path(__file__).parent / "corpus.json").read_text(encoding="utf-8"))
HALVES = ["tuned", "held out"]


def of(half: str, drawn: str | None = None) -> list[dict[str, Any]]:
    cells = [each for each in CELLS if each["half"] == half]
    return [each for each in cells if drawn is None or each["drawn"] == drawn]


@pytest.mark.parametrize("half", HALVES)
def test_of_cells_at_random_at_most_two_in_a_hundred_ask_for_nothing(
    half: str, tmp_path: Path
) -> None:
    cells = of(half, "at random")
    assert len(cells) == 100
    quiet = [each for each in cells if each["label"] == "none"]
    asked = [
        each["source"] for each in quiet if list(actions_in(each["source"], Place(str(tmp_path))))
    ]
    assert len(asked) <= 0.02 * len(quiet), asked


@pytest.mark.parametrize("half", HALVES)
def test_what_writes_asks_where_the_file_exists_and_not_where_it_is_new(
    half: str, tmp_path: Path
) -> None:
    writing = [each["source"] for each in of(half) if each["label"] == "writes"]
    anywhere = [code for code in writing if not list(actions_in(code, Place()))]
    assert anywhere == []
    # Two cells write to a path that another cell names: nobody knows whether it is there.
    new = [code for code in writing if list(actions_in(code, Place(str(tmp_path))))]
    assert len(new) == {"tuned": 2, "held out": 0}[half], new


@pytest.mark.parametrize("half", HALVES)
def test_what_acts_asks(half: str, tmp_path: Path) -> None:
    acting = [each["source"] for each in of(half) if each["label"] == "acts"]
    assert acting
    assert all(list(actions_in(code, Place(str(tmp_path)))) for code in acting)

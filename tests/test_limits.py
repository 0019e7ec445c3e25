"""The tables of limits and faults in the documentation have those of the code and of the tests."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from jupyter_datalayer_agent.protocol import limits

TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent / "docs" / "limits.md"
ROW = re.compile(
    r"^\| .+? \| (?P<limit>[^|]+) \| .+ \| `(?P<module>[\w.]+)\.(?P<name>[A-Z_]+)` \|$"
)
ROWS = [match for line in PAGE.read_text("utf-8").splitlines() if (match := ROW.match(line))]


def test_each_limit_is_that_of_the_code() -> None:
    for row in ROWS:
        module = importlib.import_module(f"jupyter_datalayer_agent.{row['module']}")
        size = getattr(module, row["name"])
        number, unit = row["limit"].partition(" ")[::2]
        assert number == (f"{size // 1024**2:,}" if unit == "MB" else f"{size:,}"), row["name"]


def test_no_limit_of_what_crosses_a_boundary_is_left_out() -> None:
    named = {row["name"] for row in ROWS if row["module"] == "protocol.limits"}
    assert named == {name for name in vars(limits) if name.startswith("MAX_")}


def test_the_table_of_faults_has_each_test_of_a_fault() -> None:
    page = (TESTS.parent / "docs" / "sessions.md").read_text("utf-8")
    named = re.findall(r"^\|.+\| `(test_\w+)` \|$", page, re.MULTILINE)
    source = (TESTS / "agent" / "turn" / "test_faults.py").read_text("utf-8")
    assert sorted(named) == sorted(re.findall(r"^(?:async )?def (test_\w+)", source, re.MULTILINE))

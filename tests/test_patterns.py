"""No text stalls a regular expression: each is given texts that are made to be slow for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.patterns.page import slow_patterns
from tests.support.jupyter import REPOSITORY

SECONDS = 600
"""It takes about 25; an expression that no signal ends would keep the child from ending."""


@pytest.mark.timeout(2 * SECONDS)
def test_every_pattern_reads_any_text_at_once() -> None:
    child = subprocess.run(
        [sys.executable, "-m", "tests.patterns"],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert child.returncode == 0, child.stdout + child.stderr


@pytest.mark.timeout(SECONDS)  # It computes for ten, on a machine that does nothing else.
def test_every_pattern_of_the_page_reads_any_text_at_once() -> None:
    assert slow_patterns() == []

"""Which code reaches past the kernel. The page goes by the same cases (``errors/caution.ts``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_datalayer_agent.tools.acts import act_of

CASES = json.loads((Path(__file__).parent / "acts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("code", CASES["acts"])
def test_code_that_acts_beyond_the_kernel_is_recognised(code: str) -> None:
    assert act_of(code) is not None


@pytest.mark.parametrize("code", CASES["none"])
def test_other_code_is_not(code: str) -> None:
    assert act_of(code) is None

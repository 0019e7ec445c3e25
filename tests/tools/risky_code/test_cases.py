"""Which code waits for the user under the policy ``destructive``, and what the user is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_datalayer_agent.tools.risky_code import Place, reason_of

from .cases import FILES, GROUPS

RECOGNISED = [(g.language, code, said) for g in GROUPS for code, said in g.recognised]
QUIET = [(g.language, code) for g in GROUPS for code in [*g.passed, *g.missed]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("notebooks")
    for name in FILES:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("kept", encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize(("language", "code", "said"), RECOGNISED)
def test_what_loses_something_is_named_with_its_target_and_line(
    language: str, code: str, said: str, folder: str
) -> None:
    reason = reason_of([("The cell", code)], Place(folder, language))
    assert reason is not None
    assert reason.message == f"The cell {said}"


@pytest.mark.parametrize(("language", "code"), QUIET)
def test_other_code_does_not_ask(language: str, code: str, folder: str) -> None:
    reason = reason_of([("The cell", code)], Place(folder, language))
    assert reason is None, reason

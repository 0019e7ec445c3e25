"""``run --compare``: the answers of several models under each other, at a real server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from jupyter_datalayer_agent import cli
from tests.agent.answers.comparing import A, B, C, script
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer, Status
from tests.support.sessions import new_notebook, sources

BOTH = f"{A},{B}"


@pytest.fixture
def folder(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The server's root as the working directory, where the command finds that server."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", server.environment["JUPYTER_RUNTIME_DIR"])
    monkeypatch.chdir(server.root)
    return server.root


def test_the_answers_are_printed_in_the_order_of_the_models_with_what_they_took(
    folder: Path, model: ScriptedModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    new_notebook(folder / "a.ipynb", "price = 12")
    script(
        model,
        alpha=[Call("getNotebookCells", {}), Say("Blue, says alpha.")],
        beta=[Call("addNotebookCell", {"content": "x"}), Say("Red, says beta.")],
        gamma=Status(401),
    )
    code = cli.main(["run", "Which colour?", "a.ipynb", "--compare", f"{C}, {BOTH}"])
    out, progress = capsys.readouterr()
    assert code == 0
    none, blue, red = out.strip().split("\n\n")
    assert none.startswith(f"── {C} · no answer\n")
    assert "key" in none
    took = r"[\d,]+ tokens · \d+\.\d s · cost unknown"
    assert re.fullmatch(rf"── {A} · {took}\nBlue, says alpha\.", blue)
    assert re.fullmatch(rf"── {B} · {took}\nRed, says beta\.", red)
    for line in (f"✗ {C}", f"✓ {A}", f"✓ {B}"):
        assert line in progress
    assert sources(folder / "a.ipynb") == ["price = 12"], "they only read"
    assert all("price = 12" in r.text for r in model.requests), "they know the notebook"


def test_a_synthesis_says_which_answers_it_cites(
    folder: Path, model: ScriptedModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    script(
        model,
        alpha=Say("Blue, says alpha."),
        beta=Say("Red, says beta."),
        scripted=Say("Both name a colour [1]."),
    )
    code = cli.main(["run", "Which colour?", "--compare", BOTH, "--synthesise"])
    *_, synthesis = capsys.readouterr().out.strip().split("\n\n")
    assert code == 0
    head, text, *cited = synthesis.splitlines()
    assert head.startswith("── Synthesis by openai/scripted · ")
    assert text == "Both name a colour [1]."
    assert cited == [f"[1] {A}", f"[2] {B} (not cited)"]


def test_json_has_all_of_it_and_the_exit_code_is_1_where_none_answers(
    folder: Path, model: ScriptedModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    script(model, alpha=Say("Blue."), beta=Status(401))
    assert cli.main(["run", "Which?", "--compare", BOTH, "--synthesise", "--json"]) == 0
    out, progress = capsys.readouterr()
    turn = json.loads(out)
    assert progress == ""
    assert [(each["model"], each["text"]) for each in turn["answers"]] == [(A, "Blue.")]
    assert [each["model"] for each in turn["unanswered"]] == [B]
    script(model, alpha=Status(401), beta=Status(403))
    assert cli.main(["run", "Which?", "--compare", BOTH]) == 1
    assert capsys.readouterr().out.count("no answer") == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--compare", A], "name 2 to 4 models, not 1. For example: --compare openai/"),
        (["--compare", f"{BOTH},a/c,a/d,a/e"], "name 2 to 4 models, not 5"),
        (["--compare", f"{A},{A}"], "openai/alpha is named twice"),
        (["--compare", f"{A},"], "the name of a model is empty"),
        (["--compare", BOTH, "--mode", "agent"], "only read: leave out --mode agent"),
        (["--compare", BOTH, "--mode", "edit"], "only read: leave out --mode edit"),
        (["--compare", BOTH, "--model", A, "--plan"], "--model, --plan is for one model"),
        (["nowhere.ipynb", "--compare", BOTH], "There is no notebook nowhere.ipynb"),
        (["a.ipynb", "--synthesise"], "add --compare"),
        (["--compare", f"{A},local/genius"], "local/genius: No local model is called genius"),
        (
            ["--compare", f"{A},anthropic/claude-opus-5-5"],
            "anthropic/claude-opus-5-5: Anthropic has no key",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_before_any_model_is_asked(
    folder: Path,
    model: ScriptedModelServer,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    said: str,
) -> None:
    assert cli.main(["run", "Which colour?", *options]) == 2
    out, refusal = capsys.readouterr()
    assert said in refusal
    assert out == ""
    assert model.requests == []

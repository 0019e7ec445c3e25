"""``run --compare``: the answers of several models to one message, one under the other."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .failure import CommandFailed
from .run import TurnOutput
from .server import AgentServer, server_for
from .terminal import Progress

EXAMPLE = "--compare openai/gpt-6.1-sol,anthropic/claude-opus-5-5"
OF_ONE_MODEL = ("model", "template", "plan", "param", "yes", "approval")


def compare(given: argparse.Namespace) -> int:
    """Ask the models; 0 if at least one answered."""
    models = models_of(given)
    file = notebook_of(given)
    with server_for(file.parent if file is not None else Path()) as server:
        default = _check(server, models)
        path = None if file is None else server.path(file)
        turn = TurnOutput(server, Progress(quiet=given.json))
        status = turn.follow(
            {
                "message": given.task,
                "mode": "ask",
                "location": "api",
                "compare": models,
                "activeNotebook": path,
                "attachments": [] if path is None else [{"kind": "notebook", "path": path}],
            }
        )
        ends = dict(turn.view.answers)
        answered = [model for model in models if ends.get(model, {}).get("text")]
        synthesis = None
        if given.synthesise and len(answered) > 1:
            synthesis = turn.synthesise(default or answered[0])
        reply = turn.reply()
    if given.json:
        failed = [each for each in ends.values() if each["status"] != "completed"]
        print(json.dumps({**reply, "unanswered": failed}, ensure_ascii=False, indent=2))
    else:
        shown = [ends[model] for model in models if model in ends]
        print("\n\n".join(map(answer_text, [*shown, *([synthesis] if synthesis else [])])))
    return 0 if status == "completed" else 1


def models_of(given: argparse.Namespace) -> list[str]:
    """The models to compare. Raises ``CommandFailed`` for options that go with one model only."""
    from ..protocol.answers import different_models

    if given.mode not in (None, "ask"):
        raise CommandFailed(
            f"Models that are compared only read: leave out --mode {given.mode}, and have one of "
            "them do the work afterwards."
        )
    wrong = [f"--{name}" for name in OF_ONE_MODEL if getattr(given, name)]
    if wrong:
        raise CommandFailed(f"{', '.join(wrong)} is for one model. Leave it out with --compare.")
    try:
        return different_models(given.compare.split(","), at_least=2)
    except ValueError as error:
        raise CommandFailed(f"--compare: {error}. For example: {EXAMPLE}") from error


def notebook_of(given: argparse.Namespace) -> Path | None:
    """The notebook that the question is about, if it is about one. Raises ``CommandFailed``."""
    if given.notebook is None:
        return None
    file = Path(given.notebook)
    if file.suffix != ".ipynb" or not file.is_file():
        raise CommandFailed(f"There is no notebook {file}.")
    return file


def _check(server: AgentServer, models: list[str]) -> str | None:
    """The default model, if it is ready. Raises ``CommandFailed`` for a model that is known to be
    unavailable, before any of them is asked."""
    default = None
    problems = []
    for name in models:
        reply = server.get("models", model=name)
        default = reply.get("default") if reply["ready"] else None
        info = next(each for each in reply["models"] if each["id"] == name)
        if not info["ready"]:
            problems.append(f"{name}: {info['reason']}")
    if problems:
        raise CommandFailed("\n".join(["No model was asked.", *problems]))
    return default


def answer_text(end: dict[str, Any]) -> str:
    """An answer under a line with its model, tokens, time and cost; or why there is none."""
    sources = end.get("sources")
    name = end["model"] if sources is None else f"Synthesis by {end['model']}"
    if end["status"] != "completed":
        why = end.get("message") or "It was stopped."
        return f"── {name} · no answer\n{why}"
    lines = [f"── {name} · {' · '.join(facts(end))}", end["text"]]
    for each in sources or ():
        cited = "" if each["cited"] else " (not cited)"
        lines.append(f"[{each['number']}] {each['model']}{cited}")
    return "\n".join(lines)


def facts(end: dict[str, Any]) -> Iterator[str]:
    """What an answer took: "1,234 tokens", "2.3 s", "$0.0042" where its price is known."""
    usage = end.get("usage")
    if usage is not None:
        about = "about " if usage.get("estimated") else ""
        yield f"{about}{usage['totalTokens']:,} tokens"
    if end.get("durationMs") is not None:
        yield f"{end['durationMs'] / 1000:.1f} s"
    if usage is not None:
        cost = usage.get("cost")
        yield "cost unknown" if cost is None else f"${cost:.{4 if cost < 0.1 else 2}f}"

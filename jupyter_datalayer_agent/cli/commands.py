"""The commands by name."""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .acp import acp
from .benchmark import benchmark
from .compare import compare
from .failure import CommandFailed
from .mcp import mcp
from .run import run
from .server import server_for


def quality(given: argparse.Namespace) -> int:
    """Print the report of each notebook; 1 if one is below ``--min-score`` or has an error."""
    from ..workflows.quality import analyse_notebook
    from ..workflows.quality.report import failed

    reports = {}
    for name in given.notebooks:
        file = Path(name)
        if not file.is_file():
            raise CommandFailed(f"There is no notebook {name}.")
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            reports[name] = failed(f"It cannot be read: {error}")
        else:
            reports[name] = analyse_notebook(content)
    if given.json:
        print(json.dumps({name: report.to_wire() for name, report in reports.items()}, indent=2))
    else:
        for name, report in reports.items():
            print(f"{name}: {report.score} of 100")
            for issue in report.issues:
                cell = f" cell {issue.index + 1}" if issue.index is not None else ""
                print(f"  {issue.severity}{cell}: {issue.message} ({issue.rule})")
            for suggestion in report.suggestions[:3]:
                print(f"  → {suggestion}")
    return int(
        any(
            report.score < given.min_score
            or any(issue.severity == "error" for issue in report.issues)
            for report in reports.values()
        )
    )


def workflows(given: argparse.Namespace) -> int:
    """List the workflows."""
    from ..workflows.templates.catalogue import builtin_catalogue

    catalogue = builtin_catalogue()
    catalogue.add_entry_points()
    infos = [info.to_wire() for info in catalogue.infos()]
    return _print(given, infos, lambda each: f"{each['id']}\n  {each['description']}")


def models(given: argparse.Namespace) -> int:
    """List the models, with 1 if none is ready; or add or remove one on this computer."""
    from ..models.local.added_models import PREFIX
    from . import local_models

    if given.action == "add":
        return local_models.add(given)
    if given.action == "remove":
        return local_models.remove(given)

    def is_shown(model: dict[str, Any]) -> bool:
        return bool(model["ready"]) or str(model["id"]).startswith(PREFIX)

    def line(model: dict[str, Any]) -> str:
        if not str(model["id"]).startswith(PREFIX):
            return str(model["id"])
        text = f"{model['id']}  {model['provider']}, {model['label']}"
        return text if model["ready"] else f"{text}\n  {model['reason']}"

    with server_for(Path.cwd()) as server:
        reply = server.get("models")
    if not reply["ready"] and not given.json:
        print(reply.get("message", "No model is ready."))
    shown = [each for each in reply["models"] if is_shown(each)]
    _print(given, reply if given.json else shown, line)
    return 0 if reply["ready"] else 1


def tutorials(given: argparse.Namespace) -> int:
    """List the tutorials with the progress."""

    def line(tutorial: dict[str, Any]) -> str:
        lessons = tutorial["lessons"]
        done = sum(lesson["done"] for lesson in lessons)
        return f"{tutorial['id']}  {done} of {len(lessons)} lessons\n  {tutorial['description']}"

    with server_for(Path.cwd()) as server:
        return _print(given, server.get("tutorials")["tutorials"], line)


def sessions(given: argparse.Namespace) -> int:
    """List the conversations."""

    def line(session: dict[str, Any]) -> str:
        at = datetime.datetime.fromtimestamp(session["updatedAt"] / 1000)
        return f"{session['id']}  {at:%Y-%m-%d %H:%M}  {session['title']}"

    with server_for(Path.cwd()) as server:
        return _print(given, server.get("sessions")["sessions"], line)


def config(given: argparse.Namespace) -> int:
    """Print the settings, each with its value and the layer that it comes from."""

    def line(setting: dict[str, Any]) -> str:
        value = json.dumps(setting.get("value"), ensure_ascii=False)
        locked = "  locked" if setting["locked"] else ""
        return f"{setting['name']:24} {value:24} {setting['source']}{locked}"

    query = {"sessionId": given.session} if given.session else {}
    with server_for(Path.cwd()) as server:
        return _print(given, server.get("config", **query)["values"], line)


def _print(given: argparse.Namespace, rows: Any, line: Callable[[dict[str, Any]], str]) -> int:
    if given.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        for row in rows:
            print(line(row))
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "acp": acp,
    "benchmark": benchmark,
    "run": lambda given: run(given) if given.compare is None else compare(given),
    "quality": quality,
    "workflows": workflows,
    "models": models,
    "tutorials": tutorials,
    "sessions": sessions,
    "config": config,
    "mcp": mcp,
}

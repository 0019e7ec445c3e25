"""``models add`` and ``models remove``: models on this computer."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ..models.local.added_models import AddedModels, CannotAdd, LocalModel, added_models
from ..models.local.gguf import UnusableFile
from ..models.local.hub import SCHEME, fetch
from ..models.local.servers import INSTALL, available, is_installed, needed, size_text, too_large
from .failure import CommandFailed


def add(given: argparse.Namespace) -> int:
    """Add a GGUF file, which stays where it is, or one of the hub, and say what it needs."""
    models = added_models()
    try:
        file = fetch(given.file, _report) if given.file.startswith(SCHEME) else Path(given.file)
        model = models.add(file, given.name, given.context)
    except (CannotAdd, UnusableFile, OSError) as error:
        raise CommandFailed(str(error)) from error
    if given.json:
        print(json.dumps(_wire(model), indent=2))
        return 0
    print(f"Added {model.id}: {model.title or model.architecture}, {size_text(model.size)}.")
    print(f"The file stays where it is: {model.path}")
    print(
        f"It needs about {size_text(needed(model))} of memory with a context window of "
        f"{model.window:,} tokens; {size_text(available())} are available."
    )
    for hint in _hints(model):
        print(hint)
    print(f"Choose {model.id} in the panel, or give it to `run` with --model.")
    return 0


def remove(given: argparse.Namespace) -> int:
    """Forget a model; the user's file is not touched."""
    models: AddedModels = added_models()
    try:
        model = models.remove(given.name)
    except CannotAdd as error:
        raise CommandFailed(str(error)) from error
    if given.json:
        print(json.dumps(_wire(model), indent=2))
    else:
        print(f"Removed {model.id}. Its file is still there: {model.path}")
    return 0


def _report(message: str) -> None:
    print(message, file=sys.stderr)


def _hints(model: LocalModel) -> list[str]:
    hints = [too_large(model)]
    if not is_installed():
        hints.append(f"llama.cpp is not installed. Run `{INSTALL}` where JupyterLab is installed.")
    return [hint for hint in hints if hint]


def _wire(model: LocalModel) -> dict[str, object]:
    return {
        "id": model.id,
        "path": model.path,
        "size": model.size,
        "contextWindow": model.window,
        "memory": needed(model),
    }

"""The models that the user added: a small JSON file for each, in the agent's data directory.

With a file each, two commands that add models at once do not overwrite each other's. The model
itself stays where it is, and is never written or deleted.
"""

from __future__ import annotations

import json
import logging
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from .gguf import read_model

log = logging.getLogger(__name__)

PREFIX = "local/"
"""Prefix of the names by which the models are chosen: ``local/NAME``."""
LABEL = "On this computer"
USUAL_WINDOW = 16_384
"""Default context window, in tokens. A larger one takes more memory, and reading that much takes
minutes on most computers."""
SMALLEST_WINDOW = 1_000
MOST_NAME = 60

_NAME = re.compile(rf"[a-z0-9](?:[a-z0-9._-]{{0,{MOST_NAME - 1}}})\Z")


@dataclass(frozen=True)
class LocalModel:
    """One added model. ``window`` is its context window in tokens, ``kv_bytes`` the memory that
    each of them takes, ``size`` the file's size in bytes when it was added."""

    name: str
    path: str
    size: int
    title: str
    architecture: str
    window: int
    kv_bytes: int

    @property
    def id(self) -> str:
        """The name by which it is chosen."""
        return PREFIX + self.name


class CannotAdd(Exception):
    """A model cannot be added or removed; the message says why and what to do."""


class AddedModels:
    """The added models, read from ``folder`` each time; that takes 0.1 ms a model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> list[LocalModel]:
        """All models by name; an entry that cannot be read is left out."""
        try:
            files = sorted(self.folder.glob("*.json"))
        except OSError:
            return []
        return [model for file in files if (model := _read(file)) is not None]

    def find(self, name: str) -> LocalModel | None:
        """The model of that name, with or without ``local/``."""
        name = name.removeprefix(PREFIX)
        return _read(self._file(name)) if _NAME.match(name) else None

    def add(self, file: Path, name: str | None = None, window: int | None = None) -> LocalModel:
        """Add a model file under a name, by default the file's. ``window`` is in tokens. Raises
        ``CannotAdd`` and ``UnusableFile``."""
        file = file.expanduser().absolute()
        header = read_model(file)
        name = name or name_of(file)
        if not _NAME.match(name):
            raise CannotAdd(
                f"{name} is not a valid name. Use up to {MOST_NAME} lowercase letters, digits, "
                "dots, hyphens and underscores, and begin with a letter or a digit."
            )
        longest = header.context_length or USUAL_WINDOW
        if window is not None and not SMALLEST_WINDOW <= window <= longest:
            raise CannotAdd(
                f"The context window of this model can be {SMALLEST_WINDOW:,} to {longest:,} "
                "tokens."
            )
        model = LocalModel(
            name=name,
            path=str(file),
            size=header.size,
            title=header.title,
            architecture=header.architecture,
            window=window or min(longest, USUAL_WINDOW),
            kv_bytes=header.kv_bytes,
        )
        self._write(model)
        return model

    def remove(self, name: str) -> LocalModel:
        """Forget a model; its file stays. Raises ``CannotAdd`` if there is none of that name."""
        model = self.find(name)
        if model is None:
            added = ", ".join(model.name for model in self.all()) or "none"
            raise CannotAdd(f"No local model is called {name}. Added models: {added}.")
        self._file(model.name).unlink(missing_ok=True)
        return model

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _write(self, model: LocalModel) -> None:
        """Raises ``CannotAdd`` where the name is taken."""
        taken = self.find(model.name)
        if taken is not None:
            raise CannotAdd(
                f"The name {model.name} is already used for {taken.path}. Choose another one with "
                f"--name, or run `jupyter datalayer-agent models remove {model.name}` first."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        new = self.folder / f".{model.name}.{os.getpid()}"
        new.write_text(json.dumps(asdict(model), indent=2), encoding="utf-8")
        new.replace(self._file(model.name))


def default_folder() -> Path:
    """The folder in Jupyter's data directory."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "datalayer-agent" / "local-models"


def added_models() -> AddedModels:
    """The models that this user added."""
    return AddedModels(default_folder())


def name_of(file: Path) -> str:
    """A valid name for the model, made from the file's."""
    name = re.sub(r"[^a-z0-9._-]+", "-", file.stem.lower()).strip("-._")
    return name[:MOST_NAME] or "model"


def _read(file: Path) -> LocalModel | None:
    try:
        return LocalModel(**json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, TypeError, ValueError) as error:
        log.warning("%s cannot be read, and is not used: %s", file, error)
        return None

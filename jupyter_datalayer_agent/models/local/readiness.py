"""Whether a model on this computer could be started now."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from ..types import Readiness
from .added_models import AddedModels, LocalModel, added_models
from .memory import available, installed, needed, size_text

INSTALL = 'pip install "jupyter-datalayer-agent[local]"'
MODULE = "xllamacpp"


def is_installed() -> bool:
    """Whether llama.cpp can be imported. The import itself happens in the model's own process."""
    importlib.invalidate_caches()
    return importlib.util.find_spec(MODULE) is not None


def readiness_of(name: str, models: AddedModels | None = None) -> Readiness:
    """Whether ``local/NAME`` could be called, but for the memory that is free: that is compared
    when it is started, since models that nobody uses are unloaded for it."""
    model = (models or added_models()).find(name)
    if model is None:
        return Readiness(
            False,
            f"There is no local model {name.removeprefix('local/')}.",
            "Run `jupyter datalayer-agent models add FILE.gguf` in a terminal.",
        )
    problem = file_problem(model)
    if problem:
        again = f"models remove {model.name}` and then `models add` it again"
        return Readiness(False, problem, f"Put it back, or run `jupyter datalayer-agent {again}.")
    if problem := never_fits(model):
        return Readiness(False, problem)
    if not is_installed():
        return Readiness(
            False, "llama.cpp is not installed.", f"Run `{INSTALL}` where JupyterLab is installed."
        )
    return Readiness(True)


def file_problem(model: LocalModel) -> str:
    """What is wrong with the model's file; empty if it is as it was when it was added."""
    try:
        size = Path(model.path).stat().st_size
    except FileNotFoundError:
        return f"The file of {model.name} is not there any more: {model.path}."
    except OSError as error:
        return f"The file of {model.name} cannot be read: {error.strerror} ({model.path})."
    if size != model.size:
        return f"The file of {model.name} has changed since it was added: {model.path}."
    return ""


def never_fits(model: LocalModel, memory: int | None = None) -> str:
    """Says so where the computer has less ``memory`` than the model needs, whatever else runs."""
    memory = installed() if memory is None else memory
    wanted = needed(model)
    if wanted <= memory:
        return ""
    return (
        f"{model.name} needs about {size_text(wanted)} of memory, and this computer has "
        f"{size_text(memory)}. Add it with a smaller context window (--context), or take a "
        "smaller model."
    )


def too_large(model: LocalModel, free: int | None = None) -> str:
    """Says so where the model needs more memory than ``free`` bytes; empty if it fits."""
    free = available() if free is None else free
    wanted = needed(model)
    if wanted <= free:
        return ""
    return (
        f"{model.name} needs about {size_text(wanted)} of memory, and {size_text(free)} are "
        "available. Close other programs or kernels, add it with a smaller context window "
        "(--context), or take a smaller model."
    )

"""Model providers that other packages declare as entry points.

The name of an entry point is the prefix of its models. So a package is imported only when a model
of its own is asked for, or all models are listed; a server has imported all by then. A package that
cannot be used is named in the log, and in the readiness of its models; nothing else is affected.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint

from ..entry_points import entry_points_of, load
from ..protocol.requests import ModelInfo
from .types import CatalogueModel, ModelError, ModelProvider, Readiness

log = logging.getLogger(__name__)


class InstalledProviders:
    """The providers by prefix. Those whose prefix is ``taken``, or declared before, are refused."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._points: dict[str, EntryPoint] = {}
        self._loaded: dict[str, ModelProvider | str] = {}
        refused = set(taken)
        # Not in the order of a folder's listing: two packages may declare the same prefix.
        for point in sorted(entry_points_of("model_providers"), key=_package):
            if not point.name.isidentifier() or point.name in refused:
                why = "is taken" if point.name in refused else "is not a valid prefix"
                log.error("A model provider was not added: %s: the name %s.", _of(point), why)
            else:
                self._points[point.name] = point
                refused.add(point.name)

    def has(self, model: str) -> bool:
        """Whether the name is of a package's provider, whether or not that can be used."""
        return "/" in model and model.partition("/")[0] in self._points

    def find(self, model: str) -> CatalogueModel | None:
        """What its provider says of the model, if it has it."""
        provider = self._load(model.partition("/")[0])
        name = model.partition("/")[2]
        models = () if isinstance(provider, str) else provider.models
        return next((each for each in models if each.name == name), None)

    def readiness(self, model: str) -> Readiness:
        """Whether the model can be called now, as its provider says."""
        provider = self._load(model.partition("/")[0])
        if isinstance(provider, str):
            return Readiness(False, provider, "Repair or uninstall it, and restart JupyterLab.")
        if self.find(model) is None:
            names = ", ".join(each.name for each in provider.models) or "none"
            return Readiness(False, f"{provider.label} doesn't have {model}.", f"It has {names}.")
        try:
            return provider.readiness()
        except Exception as error:
            log.exception("%s could not say whether it is ready", provider.label)
            reason = f"{provider.label} failed to say whether it is ready: {type(error).__name__}."
            return Readiness(False, reason, "The server's log has more.")

    def default_model(self) -> str | None:
        """The first model of the first provider that is ready and may be the default."""
        for prefix in self._points:
            provider = self._load(prefix)
            if not isinstance(provider, str) and provider.can_be_default and provider.models:
                model = f"{prefix}/{provider.models[0].name}"
                if self.readiness(model).ready:
                    return model
        return None

    def infos(self) -> Iterator[ModelInfo]:
        """All models, as the page lists them."""
        for prefix in self._points:
            provider = self._load(prefix)
            if not isinstance(provider, str):
                yield from (self.info(f"{prefix}/{each.name}") for each in provider.models)

    def info(self, model: str) -> ModelInfo:
        """One model, as the page lists it."""
        prefix, _, name = model.partition("/")
        provider, known, state = self._load(prefix), self.find(model), self.readiness(model)
        return ModelInfo(
            id=model,
            label=known.label if known else name,
            provider=prefix if isinstance(provider, str) else provider.label,
            ready=state.ready,
            reason=f"{state.reason} {state.what_to_do}".strip() or None,
            vision=known is not None and known.vision,
            context_window=known.context_window if known else None,
        )

    def provider(self, model: str) -> ModelProvider:
        """The provider of the model. Raises ``ModelError`` where the model cannot be called."""
        state, provider = self.readiness(model), self._load(model.partition("/")[0])
        if isinstance(provider, str) or not state.ready:
            raise ModelError("no_model", f"{state.reason} {state.what_to_do}".strip())
        return provider

    def _load(self, prefix: str) -> ModelProvider | str:
        """The provider, or why it cannot be used."""
        if prefix not in self._loaded:
            point = self._points[prefix]
            try:
                loaded = load(point)
                if not isinstance(loaded, ModelProvider):
                    raise TypeError(f"{type(loaded).__name__} is not a ModelProvider.")
                self._loaded[prefix] = loaded
            except Exception as error:
                log.exception("A model provider was not added: %s", _of(point))
                self._loaded[prefix] = f"The provider {_of(point)} cannot be used: {error}"
        return self._loaded[prefix]


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown package"


def _of(point: EntryPoint) -> str:
    return f"{point.name} ({point.value}) of {_package(point)}"

"""The import of litellm: once, in a thread, when somebody is about to need it.

It takes seconds and 170 MB, so nothing here imports it by itself. ``begin_import`` is called when a
page's input is first focused, and at the latest by the first model call.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.metadata
import logging
import os
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from types import ModuleType
from typing import Any

from ..imports import importing
from .types import ModelError
from .warm_up import warm_up

log = logging.getLogger(__name__)

# Read by litellm while it is imported: without the first it fetches a price list from the network,
# without the third it loads a .env file of the working directory into this process and its kernels.
IMPORT_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
}

# Set by litellm for itself, and not meant for the kernels that this process starts.
LEFT_BEHIND = ("TIKTOKEN_CACHE_DIR", "CUSTOM_TIKTOKEN_CACHE_DIR")

# Of these a call imports some only when it is made; the import of one fails where litellm and mcp
# are of versions that do not go together, and every call would.
NEEDED_MODULES = (
    "litellm.responses.main",
    "litellm.responses.mcp.litellm_proxy_mcp_handler",
    "litellm.responses.streaming_iterator",
    "litellm.responses.litellm_completion_transformation.handler",
)

_lock = threading.Lock()
_loading: Future[ModuleType] | None = None


def begin_import() -> None:
    """Start the import in a daemon thread, unless it has begun; returns at once."""
    _begin()


async def litellm() -> ModuleType:
    """The litellm module, as soon as it is imported.

    Raises ``ModelError`` ``litellm_unusable`` where it cannot be used, saying what to type."""
    return await asyncio.shield(asyncio.wrap_future(_begin()))


def is_loaded() -> bool:
    """Whether litellm has been imported and can be used."""
    return _loading is not None and _loading.done() and _loading.exception() is None


def _begin() -> Future[ModuleType]:
    global _loading
    with _lock:
        if _loading is None:
            _loading = Future()
            threading.Thread(
                target=_import, args=(_loading,), name="import-litellm", daemon=True
            ).start()
        return _loading


def _import(loading: Future[ModuleType]) -> None:
    try:
        with _import_environment(), importing():
            module = importlib.import_module("litellm")
            for name in NEEDED_MODULES:
                importlib.import_module(name)
            _quieten(module)
            _try_out(module)
    except ImportError as error:
        log.warning("litellm cannot be used", exc_info=True)
        loading.set_exception(unusable(error))
    except Exception as error:
        log.exception("importing litellm failed")
        loading.set_exception(unusable(error))
    else:
        loading.set_result(module)


@contextlib.contextmanager
def _import_environment() -> Iterator[None]:
    """``IMPORT_ENVIRONMENT`` while litellm is imported. Nothing of it is left for the kernels that
    this process starts later; one that starts in just these seconds gets it, harmlessly."""
    names = (*IMPORT_ENVIRONMENT, *LEFT_BEHIND)
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(IMPORT_ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _quieten(module: Any) -> None:
    """No "Give Feedback" on standard output, no log lines of each call's details, and no warnings
    about the copies that litellm makes of an answer for its own logging."""
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)
    module.suppress_debug_info = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.ERROR)


def _try_out(module: Any) -> None:
    """Do in this thread what the first call would else do in the event loop."""
    with contextlib.suppress(ImportError):
        importlib.import_module("anyio._backends._asyncio")
    try:
        warm_up(module)
    except Exception:
        # Whatever is wrong will be told of the first real call, which may be of another kind.
        log.debug("litellm could not be warmed up", exc_info=True)


def unusable(error: BaseException) -> ModelError:
    """What to tell a person whose litellm cannot be used, and what to type."""
    litellm_version, mcp_version = _version("litellm"), _version("mcp")
    if litellm_version is None:
        message = "litellm is not installed. Run: pip install litellm mcp"
    elif "mcp" in str(error):
        message = (
            f"litellm {litellm_version} does not work with mcp {mcp_version or '(not installed)'}. "
            f"Run: {remedy(litellm_version)}, then restart the server."
        )
    else:
        message = f"litellm {litellm_version} cannot be imported: {error}"
    return ModelError("litellm_unusable", message)


def remedy(litellm_version: str) -> str:
    """The pip command that brings litellm and mcp together; see decision 0001."""
    release = tuple(int(part) for part in litellm_version.split(".")[:2] if part.isdigit())
    if release < (1, 103):
        return 'pip install "mcp<2"'
    return 'pip install "mcp>=2.3" (or, beside jupyter-ai 3.2: pip install "litellm<1.103" "mcp<2")'


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None

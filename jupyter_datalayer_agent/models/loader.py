"""The import of litellm: once, in a thread, when it is about to be needed.

It takes seconds and 170 MB, so nothing here imports it by itself. ``import_when_idle`` is called
when a page shows the panel, ``begin_import`` when its input is first focused, and at the latest by
the first model call. What chat completions need comes first; the rest waits for a quiet moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.metadata
import json
import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..imports import importing
from .provider_arguments import ModelRoute, call_arguments
from .types import ModelError, ModelRequest

# A first call without a network, in the thread that imports litellm.
#
# The first call builds schemas of litellm's and openai's classes and imports what was not needed
# before: a quarter of a second, which would else stop the event loop of the server.


BASE = "http://warm-up.invalid"

_TOOL = {
    "type": "function",
    "name": "warm",
    "description": "",
    "parameters": {"type": "object", "properties": {"up": {"type": "string"}}},
}
_REQUEST = ModelRequest(
    model="openai/warm-up",
    instructions="Say hello.",
    input=[{"role": "user", "content": "Hello."}],
    tools=[_TOOL],
    api_base=BASE,
)
_ROUTE = ModelRoute(_REQUEST.model, None, BASE, responses=False)


def warm_up(litellm: Any) -> None:
    """Make the call in a separate event loop, and look a price up. No connection is opened."""
    asyncio.run(_call(litellm))
    # For a model with a price, litellm asks every provider's class before it returns the stream.
    litellm.get_model_info("gpt-4")


def warm_up_rest(litellm: Any) -> None:
    """What the first count of tokens and the first answer of the Responses API would build."""
    litellm.token_counter(model="gpt-4", text="warm")
    # The one class of the Responses API that takes long: it is a whole answer.
    importlib.import_module("litellm.types.llms.openai").ResponseCompletedEvent.model_rebuild()


async def _call(litellm: Any) -> None:
    httpx = importlib.import_module("httpx")
    openai = importlib.import_module("openai")

    def answer(request: Any) -> Any:
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, content=_answer(), headers=headers)

    transport = httpx.MockTransport(answer)
    arguments = call_arguments(_REQUEST, _ROUTE, idle_timeout=10, environ={})
    async with openai.AsyncOpenAI(
        api_key="none", base_url=BASE, http_client=httpx.AsyncClient(transport=transport)
    ) as client:
        stream = await litellm.acompletion(**{**arguments, "api_key": "none"}, client=client)
        async for _ in stream:
            pass
    # litellm's bookkeeping of the call must not be left to a loop that is closed.
    worker = importlib.import_module("litellm.litellm_core_utils.logging_worker")
    await worker.GLOBAL_LOGGING_WORKER.flush()
    await worker.GLOBAL_LOGGING_WORKER.stop()


def _answer() -> bytes:
    """The chunks of a chat completion: some text, a call, the end."""
    call = {"index": 0, "id": "c", "function": {"name": "warm", "arguments": "{}"}}
    deltas: list[tuple[dict[str, Any], str | None]] = [
        ({"role": "assistant", "content": "Hello."}, None),
        ({"tool_calls": [call]}, None),
        ({}, "tool_calls"),
    ]
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in deltas
    ]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    chunks.append({"choices": [], "usage": usage})
    head = {"id": "warm", "object": "chat.completion.chunk", "created": 0, "model": "warm-up"}
    lines = [json.dumps({**head, **chunk}) for chunk in chunks]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


# Background work: begun while the process is idle, and yielding to other work.


IDLE_SECONDS = 1.0

_STEP = 0.1
_BUSY = 0.2
"""The share of a core in one step above which the process counts as busy. Open pages make small
requests all the time."""
_LATE = 0.05
"""Seconds by which a step ends late where others keep the machine busy: a browser that draws
JupyterLab, a kernel that starts. This process then gets less of a core than it wants."""

_AT_ONCE = 0.004
"""Seconds of work between pauses."""
_PAUSE = 0.001


def wait_until_idle(needed: threading.Event) -> None:
    """Returns when this process has used hardly any processor time for ``IDLE_SECONDS``, on a
    machine that has some to give, and as soon as ``needed`` is set."""
    since = time.monotonic()
    while (now := time.monotonic()) - since < IDLE_SECONDS:
        used = time.process_time()
        if needed.wait(_STEP):
            return
        is_late = time.monotonic() - now > _STEP + _LATE
        if is_late or time.process_time() - used > _STEP * _BUSY:
            since = time.monotonic()


@contextlib.contextmanager
def giving_way(needed: threading.Event) -> Iterator[None]:
    """Imports of this thread release the GIL repeatedly, until ``needed`` is set. Otherwise a
    thread that needs it waits 5 ms each time."""
    pauses = _Pauses(needed)
    sys.meta_path.insert(0, pauses)
    try:
        yield
    finally:
        sys.meta_path.remove(pauses)


class _Pauses(MetaPathFinder):
    """A meta path finder that finds nothing, but is called before each import."""

    def __init__(self, needed: threading.Event) -> None:
        self._needed = needed
        self._thread = threading.get_ident()
        self._since = time.monotonic()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        of_ours = threading.get_ident() == self._thread and not self._needed.is_set()
        if of_ours and time.monotonic() - self._since > _AT_ONCE:
            time.sleep(_PAUSE)
            self._since = time.monotonic()
        return None


log = logging.getLogger(__name__)

# Read by litellm while it is imported: without the first it fetches a price list from the network,
# without the third it loads a .env file of the working directory into this process and its kernels.
# The last one: a hundred equal pieces would be an error, for which a request is made again. Whether
# an answer repeats itself is the agent's to find (agent/model_calls/answer_reader.py).
IMPORT_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
    "REPEATED_STREAMING_CHUNK_LIMIT": "1000000000",
}

# Set by litellm for itself, and not meant for the kernels that this process starts.
LEFT_BEHIND = ("TIKTOKEN_CACHE_DIR", "CUSTOM_TIKTOKEN_CACHE_DIR")

# Of these a call of the Responses API imports some only when it is made; the import of one fails
# where litellm and mcp are of versions that do not go together, and every such call would.
NEEDED_MODULES = (
    "litellm.responses.main",
    "litellm.responses.mcp.litellm_proxy_mcp_handler",
    "litellm.responses.streaming_iterator",
)

_lock = threading.Lock()
_loading: _Loading | None = None


def import_when_idle() -> None:
    """Start the import as soon as the server has been idle for a second, unless it has begun;
    returns at once. Until somebody needs it, it gives way to all else."""
    _begin()


def begin_import() -> None:
    """Start the import in a daemon thread, unless it has begun; returns at once."""
    _begin().needed.set()


async def litellm() -> ModuleType:
    """The litellm module, as soon as chat completions can be called.

    Raises ``ModelError`` ``litellm_unusable`` where it cannot be used, saying what to type."""
    loading = _begin()
    loading.needed.set()
    return await asyncio.shield(asyncio.wrap_future(loading.chat))


async def responses() -> None:
    """Wait until the Responses API can be called, too; raises as ``litellm`` does."""
    loading = _begin()
    loading.needed.set()
    loading.rest_needed.set()
    await asyncio.shield(asyncio.wrap_future(loading.rest))


def is_loaded() -> bool:
    """Whether litellm has been imported and can be used."""
    return _loading is not None and _is_there(_loading.chat)


class _Loading:
    """One import: ``chat`` is what chat completions need, ``rest`` all. Each is begun in a quiet
    moment, or once it is needed."""

    def __init__(self) -> None:
        self.chat: Future[ModuleType] = Future()
        self.rest: Future[ModuleType] = Future()
        self.needed = threading.Event()
        self.rest_needed = threading.Event()


def _begin() -> _Loading:
    global _loading
    with _lock:
        if _loading is None:
            _loading = _Loading()
            threading.Thread(
                target=_import, args=(_loading,), name="import-litellm", daemon=True
            ).start()
        return _loading


def _import(loading: _Loading) -> None:
    wait_until_idle(loading.needed)
    with giving_way(loading.needed):
        _settle(loading.chat, _import_for_chat)
    if not _is_there(loading.chat):
        loading.rest.set_exception(loading.chat.exception())
        return
    # A waiting call is made now.
    wait_until_idle(loading.rest_needed)
    with giving_way(loading.rest_needed):
        _settle(loading.rest, _import_rest)


def _settle(future: Future[ModuleType], work: Callable[[], ModuleType]) -> None:
    try:
        with _import_environment(), importing():
            module = work()
    except ImportError as error:
        log.warning("Importing litellm failed", exc_info=True)
        future.set_exception(unusable(error))
    except Exception as error:
        log.exception("Importing litellm failed")
        future.set_exception(unusable(error))
    else:
        future.set_result(module)


def _import_for_chat() -> ModuleType:
    module = importlib.import_module("litellm")
    _quieten(module)
    # openai's client uses httpx2 as soon as it is there, even half imported: a call that is made
    # while the rest imports it would fail.
    for name in ("anyio._backends._asyncio", "httpx2"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    importlib.import_module(".wire", __package__).install(module)
    _keep_fastapi_out()
    _try_out(warm_up, module)
    return module


def _import_rest() -> ModuleType:
    module = importlib.import_module("litellm")
    for name in NEEDED_MODULES:
        importlib.import_module(name)
    _try_out(warm_up_rest, module)
    return module


def _is_there(future: Future[ModuleType]) -> bool:
    return future.done() and future.exception() is None


@contextlib.contextmanager
def _import_environment() -> Iterator[None]:
    """Sets ``IMPORT_ENVIRONMENT`` while litellm is imported. Kernels that start later do not
    inherit it; one that starts in these seconds does, harmlessly."""
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


def _keep_fastapi_out() -> None:
    """litellm asks of each error whether it is one of FastAPI's, and imports FastAPI to ask, where
    it is installed: the first error would take half a second. Only a program that has imported
    FastAPI has such errors."""
    with contextlib.suppress(ImportError, AttributeError):
        errors: Any = importlib.import_module("litellm.proxy.guardrails.exception_utils")
        asks = errors.is_fastapi_http_exception
        errors.is_fastapi_http_exception = lambda error, codes: (
            "fastapi" in sys.modules and asks(error, codes)
        )


def _try_out(warm_up: Callable[[Any], None], module: Any) -> None:
    """Do work in this thread that the first call would otherwise do in the event loop."""
    try:
        warm_up(module)
    except Exception:
        # The first real call, which may be of another kind, will report any error.
        log.debug("litellm could not be warmed up", exc_info=True)


def unusable(error: BaseException) -> ModelError:
    """The message for a user whose litellm cannot be used, with the command to type."""
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
    """The pip command that installs compatible versions of litellm and mcp; see decision 0001."""
    release = tuple(int(part) for part in litellm_version.split(".")[:2] if part.isdigit())
    if release < (1, 103):
        return 'pip install "mcp<2"'
    return 'pip install "mcp>=2.3" (or, beside jupyter-ai 3.2: pip install "litellm<1.103" "mcp<2")'


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


# Leaving nothing of litellm behind in an event loop that is about to close.


async def shutdown() -> None:
    """Close the connections that litellm keeps open, and end its background task of this loop.

    Does nothing where litellm was never loaded. Called when the server stops."""
    if not is_loaded():
        return
    module = await litellm()
    worker = importlib.import_module("litellm.litellm_core_utils.logging_worker")
    await worker.GLOBAL_LOGGING_WORKER.stop()
    wire = importlib.import_module(".wire", __package__)
    await wire.close_clients()
    await module.close_litellm_async_clients()
    # It finds them by the id of the event loop, which a later loop may have.
    module.in_memory_llm_clients_cache.flush_cache()

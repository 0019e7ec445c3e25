"""Leaving nothing of litellm behind in an event loop that is about to close."""

from __future__ import annotations

import importlib

from . import loader


async def shutdown() -> None:
    """Close the connections that litellm keeps open, and end its background task of this loop.

    Does nothing where litellm was never loaded. Called when the server stops."""
    if not loader.is_loaded():
        return
    module = await loader.litellm()
    worker = importlib.import_module("litellm.litellm_core_utils.logging_worker")
    await worker.GLOBAL_LOGGING_WORKER.stop()
    wire = importlib.import_module(".wire", __package__)
    await wire.close_clients()
    await module.close_litellm_async_clients()
    # It finds them by the id of the event loop, which a later loop may have.
    module.in_memory_llm_clients_cache.flush_cache()

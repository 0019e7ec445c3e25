"""Registers the agent with an agent SDK that is installed, if there is one.

An SDK is an entry point of the group ``jupyter_datalayer_agent.sdk``: a function
``register(descriptor, run)`` that returns a function to unregister, or None; both may be
asynchronous. ``descriptor`` is the JSON object of ``GET descriptor``, ``run`` is ``Tasks.run``.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint
from typing import Any

from ...entry_points import load
from ..base.parts import Parts
from .descriptor import AGENT_ID, descriptor
from .tasks import Tasks

log = logging.getLogger(__name__)


class Registrations:
    """The SDKs that know this agent."""

    def __init__(self) -> None:
        self._unregister: dict[str, Callable[[], Any]] = {}

    async def add(self, points: Sequence[EntryPoint], parts: Parts, base_url: str) -> None:
        """Register with each; one that fails is logged, and breaks nothing."""
        described = descriptor(parts, base_url).to_wire()
        tasks = Tasks(parts.sessions)
        for point in points:
            try:
                add = await asyncio.to_thread(load, point)
                unregister = add(described, tasks.run)
                if inspect.isawaitable(unregister):
                    unregister = await unregister
            except Exception:
                # Third-party code may raise anything.
                log.exception("The agent SDK %s (%s) could not be used", point.name, point.value)
                continue
            if unregister is not None:
                self._unregister[point.name] = unregister
            log.info("Registered as %s with the agent SDK %s", AGENT_ID, point.name)

    async def remove(self) -> None:
        """Unregister from all."""
        while self._unregister:
            name, unregister = self._unregister.popitem()
            try:
                done = unregister()
                if inspect.isawaitable(done):
                    await done
            except Exception:
                log.exception("The agent SDK %s could not be left", name)

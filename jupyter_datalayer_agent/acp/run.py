"""Serves the protocol over standard input and output, until the client closes them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from typing import cast

import acp

from .agent import Agent
from .servers import OpenServer, Servers


def run(open_server: OpenServer) -> None:
    """Serve one client. Standard output is the protocol's; logs go to standard error."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_serve(open_server))


async def _serve(open_server: OpenServer) -> None:
    serving = asyncio.current_task()
    assert serving is not None
    with contextlib.suppress(NotImplementedError):
        # Else a private server would outlive this process for a while.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
    agent = Agent(Servers(open_server))
    try:
        # Of the protocol's methods it has those that it says it has.
        await acp.run_agent(cast(acp.Agent, agent))
    finally:
        await agent.close()

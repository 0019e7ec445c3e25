"""The ops that pages submitted recently: a repeated one is not executed again.

A page repeats an op if its connection broke before the answer came. The first one may still be in
progress (its session is being loaded), and the server may have restarted since.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable

KEPT = 1000


class AcceptedOps:
    """Op ids by the page that sent the op and the page's own reference to it."""

    def __init__(self) -> None:
        self._op_ids: OrderedDict[str, asyncio.Future[str]] = OrderedDict()

    async def once(self, client_id: str, ref: str, submit: Callable[[str], Awaitable[str]]) -> str:
        """The op's id; a new op is passed to ``submit`` first.

        Raises what ``submit`` raises; a refused op may be repeated.
        """
        op_id = id_of(client_id, ref)
        known = self._op_ids.get(op_id)
        if known is None:
            known = self._op_ids[op_id] = asyncio.ensure_future(submit(op_id))
            known.add_done_callback(lambda done: self._done(op_id, done))
        return await asyncio.shield(known)

    def _done(self, op_id: str, done: asyncio.Future[str]) -> None:
        if done.cancelled() or done.exception() is not None:
            del self._op_ids[op_id]
        while len(self._op_ids) > KEPT:
            self._op_ids.popitem(last=False)


def id_of(client_id: str, ref: str) -> str:
    """The op's id. It is the same for a repeated op, even after a restart of the server: messages
    are stored with it."""
    return f"op_{hashlib.sha256(f'{client_id} {ref}'.encode()).hexdigest()[:21]}"

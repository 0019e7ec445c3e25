"""The ops that pages submitted lately: one that comes again is not carried out again.

A page sends an op again when its connection broke before the answer came.
"""

from __future__ import annotations

from collections import OrderedDict

KEPT = 1000


class AcceptedOps:
    """Op ids by the page that sent the op and the page's own reference to it."""

    def __init__(self) -> None:
        self._op_ids: OrderedDict[tuple[str, str], str] = OrderedDict()

    def find(self, client_id: str, ref: str) -> str | None:
        """The id that the op was given when it came before, if it did."""
        return self._op_ids.get((client_id, ref))

    def note(self, client_id: str, ref: str, op_id: str) -> None:
        """The op is on its session's queue."""
        self._op_ids[client_id, ref] = op_id
        while len(self._op_ids) > KEPT:
            self._op_ids.popitem(last=False)

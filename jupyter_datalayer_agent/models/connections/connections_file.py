"""``connections.json``: what is connected, without keys. Read again when it has changed, since
another server of the same user may have written it."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .connection import ModelConnection

log = logging.getLogger(__name__)

NAME = "connections.json"


class ConnectionsFile:
    """The connections of a user, by their ids."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._stamp: tuple[int, int, int] | None = None
        self._connections: dict[str, ModelConnection] = {}
        self._unknown: list[Any] = []
        self._is_damaged = False

    @property
    def stamp(self) -> tuple[int, int, int] | None:
        """Differs when the file has changed since the last ``read``."""
        return self._stamp

    def read(self) -> Mapping[str, ModelConnection]:
        """All that can be read; what cannot is logged once, and ``write`` keeps it."""
        try:
            status = self.path.stat()
        except OSError:
            self._begin(None)
            return self._connections
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if stamp != self._stamp:
            self._begin(stamp)
            try:
                found = list(json.loads(self.path.read_text(encoding="utf-8"))["connections"])
            except (OSError, ValueError, TypeError, KeyError) as error:
                log.error("%s cannot be read, and is not used: %s", self.path, error)
                found, self._is_damaged = [], True
            for each in found:
                self._add(each)
        return self._connections

    def write(self, connections: Mapping[str, ModelConnection]) -> None:
        """Write all of them, whole or not at all, in place of what was read last; entries that
        could not be read stay, and a file that could not is kept beside it. Raises ``OSError``."""
        kept = [each for each in self._unknown if _id_of(each) not in connections]
        text = json.dumps(
            {"connections": [*(each.to_json() for each in connections.values()), *kept]},
            ensure_ascii=False,
            indent=2,
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_name(f".{NAME}.{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        if self._is_damaged:
            aside = self.path.with_name(f"{NAME}.damaged")
            self.path.replace(aside)
            log.warning("%s could not be read; it is now %s", self.path, aside)
        new.replace(self.path)

    def _begin(self, stamp: tuple[int, int, int] | None) -> None:
        self._stamp, self._connections, self._unknown = stamp, {}, []
        self._is_damaged = False

    def _add(self, entry: Any) -> None:
        try:
            connection = ModelConnection.from_json(entry)
        except (AttributeError, TypeError, KeyError, ValueError) as error:
            # A newer version may have written it.
            log.error("A connection in %s is not used: %s", self.path, error)
            self._unknown.append(entry)
        else:
            self._connections[connection.id] = connection


def _id_of(entry: Any) -> Any:
    return entry.get("id") if isinstance(entry, dict) else None

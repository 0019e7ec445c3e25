"""Twins: the files that a contents manager writes together as one notebook."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from typing import Any

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from .document import DocumentError


class Twins:
    """The pairs of jupytext; there are none without it.

    jupytext knows of a pair once it has read or saved one of its files as a notebook, until the
    server ends. A file that nobody has opened yet is read that way here, since its twin may be open
    in a page. ``shown`` are the notebooks that pages show.
    """

    def __init__(self, contents_manager: Any, shown: Callable[[], Iterable[str]]) -> None:
        self._manager = contents_manager
        self._shown = shown
        # The files that were read, and when they had been changed.
        self._read: dict[str, Any] = {}

    def of(self, path: str) -> list[str]:
        """The other files of a notebook, as far as jupytext knows them."""
        pairs = getattr(self._manager, "paired_notebooks", None)
        if not pairs or path not in pairs:
            return []
        from jupytext.paired_paths import paired_paths  # type: ignore[import-not-found]

        return [other for other, _ in paired_paths(path, *pairs[path]) if other != path]

    async def learn(self, path: str, *, is_read: bool = False) -> None:
        """Let jupytext read what may say with what a file is paired: its namesakes and, unless that
        ``is_read`` as a notebook anyway, the file itself and the notebooks that pages show."""
        pairs = getattr(self._manager, "paired_notebooks", None)
        if pairs is None or path in pairs:
            return
        try:
            config = await ensure_async(self._manager.get_config(path, use_cache=True))
        except HTTPError:
            # With a broken jupytext.toml it serves no notebook at all, and pairs none.
            return
        suffixes = list(self._manager.all_nb_extensions(config))
        base, suffix = os.path.splitext(path)
        others = [f"{base}{each}" for each in suffixes] if suffix in suffixes else []
        if is_read:
            others = [each for each in others if each != path]
        else:
            others = [path, *self._shown(), *others]
        for each in dict.fromkeys(others):
            if path in pairs:
                return
            if each not in pairs and os.path.splitext(each)[1] in suffixes:
                await self._learn_from(each)

    async def _learn_from(self, path: str) -> None:
        manager = self._manager
        # What cannot be read names no twin, or has named it before that failed.
        with contextlib.suppress(HTTPError):
            if not await ensure_async(manager.file_exists(path)):
                return
            model = await ensure_async(manager.get(path, content=False, type="file"))
            changed = model.get("last_modified")
            if self._read.get(path) != changed:
                self._read[path] = changed
                await ensure_async(manager.get(path, content=True, type="notebook"))


def twin_is_open(path: str, twin: str) -> DocumentError:
    """A page shows the twin, and would overwrite what is written to both."""
    return DocumentError(
        "not_allowed",
        f"{path} is paired with {twin}, which is open as a notebook: neither file is written "
        "meanwhile.",
        f"Use the notebook tools on {twin}, attached and active. Or ask the user to close it.",
    )

"""Notebooks as the server's ContentsManager has them: read, checked, saved and read back."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import nbformat
from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from ...protocol.cells import PageCell
from ..cancellation import uncancelled
from ..document import DocumentError
from ..edits.batch import Cell, page_cell, source_of
from ..large_text import in_thread_if_large
from ..locks import PathLocks
from ..paths import ASK_FOR_PATH
from ..recent import RecentDocuments
from .file_errors import invalid, not_as_saved, not_saved
from .notebook_text import UNREADABLE, ParsedNotebook, digest, ids_of, is_plain, load, parsed

T = TypeVar("T")

_WRITING_TRIES = 5
_WRITING_SECONDS = 0.05
_OLDEST_MINOR_WITH_IDS = 5


@dataclass
class LoadedNotebook:
    """A notebook as it was read. ``content`` is shared with the cache: copy what you change.

    ``without_outputs`` are touched cells whose outputs a save hook removed from the file.
    """

    path: str
    content: dict[str, Any]
    last_modified: Any
    digest: str | None
    without_outputs: frozenset[str] = frozenset()

    @property
    def cells(self) -> list[Cell]:
        """The cells, each with an id."""
        cells: list[Cell] = self.content["cells"]
        return cells

    @cached_property
    def page_cells(self) -> list[PageCell]:
        """The cells in wire format, without outputs; made once for all readers."""
        return [page_cell(cell, index) for index, cell in enumerate(self.cells)]

    @property
    def metadata(self) -> dict[str, Any]:
        """The notebook's metadata."""
        metadata: dict[str, Any] = self.content["metadata"]
        return metadata


class ChangedOnDisk(Exception):
    """The file was written by somebody else since it was read; read it again."""


class NotebookFiles:
    """Reads and writes notebooks through a ContentsManager, sync or async, of any storage.

    Parsing and validating a notebook costs far more than reading its text, so unchanged text is not
    parsed again. ``written`` is called with the path of each file that was written.
    """

    def __init__(
        self, contents_manager: Any, written: Callable[[str], None] = lambda path: None
    ) -> None:
        self.manager = contents_manager
        self._written = written
        self._cache = RecentDocuments[LoadedNotebook]()
        self._locks = PathLocks()

    async def check(self, path: str) -> None:
        """Raise ``DocumentError`` unless there is a notebook at the path that can be read."""
        await self.load(path)

    async def load(self, path: str) -> LoadedNotebook:
        """The current notebook. Raises ``DocumentError`` if it is missing or invalid."""
        _refuse_other_files(path)
        # Jupyter writes a file in place. A reader may see a part of it, which the contents manager
        # takes for a broken file and replaces by the old one.
        async with self._locks.hold(path):
            return await self._load(path)

    async def _load(self, path: str) -> LoadedNotebook:
        text = await self._text(path)
        if text is None:
            return await self._read(path, None)
        digested = await in_thread_if_large(len(text), digest, text)
        cached = self._cache.get(path)
        if cached is not None and cached.digest == digested:
            return cached
        found = None
        for _ in range(_WRITING_TRIES):
            try:
                found = await self._parsed(text)
                break
            except json.JSONDecodeError:
                # Wait a moment for another writer.
                await asyncio.sleep(_WRITING_SECONDS)
            text = await self._text(path)
            if text is None:
                return await self._read(path, None)
            digested = await in_thread_if_large(len(text), digest, text)
        loaded = await self._read(path, found)
        loaded.digest = digested
        self._cache.keep(path, loaded, len(text))
        return loaded

    async def _parsed(self, text: str) -> ParsedNotebook | list[str | None] | None:
        """The notebook of a text, or the ids in it; None if it is invalid, which the contents
        manager reports. Raises ``JSONDecodeError`` for a part of one.

        For a contents manager that reads plain notebook files, the text is enough. From any other
        one the notebook is requested, and the text has only the ids, which nbformat would otherwise
        invent.
        """
        try:
            if is_plain(self.manager):
                notary = self.manager.notary
                return await in_thread_if_large(len(text), parsed, text, notary.compute_signature)
            return ids_of(await in_thread_if_large(len(text), load, text))
        except json.JSONDecodeError:
            raise
        except (*UNREADABLE, RecursionError):
            return None

    async def save(
        self,
        loaded: LoadedNotebook,
        cells: Sequence[Cell],
        touched: Sequence[str],
        metadata: dict[str, Any] | None = None,
    ) -> LoadedNotebook:
        """Write the cells in place of ``loaded.cells`` and read the file back.

        ``touched`` are the ids of new and changed cells: they are validated before anything is
        written, and compared with the file afterwards. Raises ``ChangedOnDisk`` when the file is
        no longer the one that was read.
        """
        async with self._locks.hold(loaded.path):
            return await self._save(loaded, cells, touched, metadata)

    async def _save(
        self,
        loaded: LoadedNotebook,
        cells: Sequence[Cell],
        touched: Sequence[str],
        metadata: dict[str, Any] | None,
    ) -> LoadedNotebook:
        content = {**loaded.content, "cells": list(cells)}
        if metadata is not None:
            content["metadata"] = metadata
        minor = content["nbformat_minor"]
        if minor < _OLDEST_MINOR_WITH_IDS:
            content["nbformat_minor"] = _OLDEST_MINOR_WITH_IDS
        by_id = {cell["id"]: cell for cell in cells}
        _validate(loaded.path, content, [by_id[each] for each in touched])
        await self._same_as(loaded)
        given = content
        if self._has_save_hooks():
            given = await asyncio.to_thread(copy.deepcopy, content)
        model = {"type": "notebook", "format": "json", "content": given}
        try:
            saved = await uncancelled(ensure_async(self.manager.save(model, loaded.path)))
        except HTTPError as error:
            raise not_saved(loaded.path, error) from error
        finally:
            self._written(loaded.path)
        if message := saved.get("message"):
            raise DocumentError(
                "internal", f"{loaded.path} was saved, but is not valid now: {message}"
            )
        return await self._read_back(loaded.path, content, touched)

    async def exists(self, path: str) -> bool:
        """Whether there is a file at the path."""
        return bool(await ensure_async(self.manager.file_exists(path)))

    async def _read_back(
        self, path: str, content: dict[str, Any], touched: Sequence[str]
    ) -> LoadedNotebook:
        text = await self._text(path)
        if text is None:
            loaded = await self._read(path, None)
            on_disk = loaded.cells
        else:
            on_disk, digested = await in_thread_if_large(len(text), _looked_at, text)
            model = await self._get(path, content=False)
            loaded = LoadedNotebook(path, content, model.get("last_modified"), digested)
        wanted = {cell["id"]: cell for cell in content["cells"]}
        found = {cell.get("id"): cell for cell in on_disk}
        if [cell.get("id") for cell in on_disk] != list(wanted):
            self._cache.drop(path)
            raise not_as_saved(path, "its cells are not those that were written")
        for cell_id in touched:
            if not _same_source(wanted[cell_id], found[cell_id]):
                self._cache.drop(path)
                raise not_as_saved(path, f"cell {cell_id} is not as it was written")
        loaded.without_outputs = frozenset(
            each for each in touched if not _same_outputs(wanted[each], found[each])
        )
        if text is not None and not _altered(wanted, on_disk):
            self._cache.keep(path, loaded, len(text))
        else:
            self._cache.drop(path)
        return loaded

    async def _same_as(self, loaded: LoadedNotebook) -> None:
        if loaded.digest is not None:
            text = await self._text(loaded.path)
            if text is None or loaded.digest != await in_thread_if_large(len(text), digest, text):
                raise ChangedOnDisk
            return
        model = await self._get(loaded.path, content=False)
        if model.get("last_modified") != loaded.last_modified:
            raise ChangedOnDisk

    def _has_save_hooks(self) -> bool:
        # A hook may change its model, and ours is shared with the cache.
        manager = self.manager
        return bool(
            getattr(manager, "pre_save_hook", None) or getattr(manager, "_pre_save_hooks", None)
        )

    async def _text(self, path: str) -> str | None:
        """The file's text; None where this contents manager has no text for notebooks."""
        try:
            model = await ensure_async(
                self.manager.get(path, content=True, type="file", format="text")
            )
        except HTTPError as error:
            if error.status_code == 404:
                raise DocumentError(
                    "not_found", f"There is no file {path}.", ASK_FOR_PATH
                ) from error
            return None
        text = model.get("content")
        return text if isinstance(text, str) else None

    async def _read(
        self, path: str, found: ParsedNotebook | list[str | None] | None
    ) -> LoadedNotebook:
        ids: list[str | None] | None
        if isinstance(found, ParsedNotebook):
            model, ids = await self._model_of(path, found), found.ids
        else:
            model, ids = await self._get(path, content=True), found
        if message := model.get("message"):
            raise invalid(path, message)
        content: dict[str, Any] = model["content"]
        if content.get("nbformat", 4) != 4 or not isinstance(content.get("cells"), list):
            raise invalid(path, f"nbformat {content.get('nbformat')} is not supported")
        _give_ids(content["cells"], ids)
        return LoadedNotebook(path, content, model.get("last_modified"), None)

    async def _model_of(self, path: str, found: ParsedNotebook) -> dict[str, Any]:
        """The notebook as the contents manager gives it: checked, and trusted or not."""
        model = await self._get(path, content=False)
        notary = self.manager.notary
        trusted = notary.store.check_signature(found.signature, notary.algorithm)
        notary.mark_cells(found.content, trusted)
        model["content"] = found.content
        # The problem, if any, is passed on, so that it is not validated again.
        self.manager.validate_notebook_model(model, {"ValidationError": found.problem})
        return model

    async def _get(self, path: str, *, content: bool) -> dict[str, Any]:
        try:
            model: dict[str, Any] = await ensure_async(
                self.manager.get(path, content=content, type="notebook")
            )
        except HTTPError as error:
            if error.status_code == 404:
                raise DocumentError(
                    "not_found", f"There is no notebook {path}.", ASK_FOR_PATH
                ) from error
            raise invalid(path, error.log_message or str(error)) from error
        except RecursionError as error:
            raise invalid(path, "it is nested too deeply to be read.") from error
        except UnicodeEncodeError as error:
            raise invalid(
                path, "it contains half a surrogate pair, which cannot be written."
            ) from error
        return model


def _looked_at(text: str) -> tuple[list[Any], str]:
    """The cells of a notebook's text, and its digest."""
    return load(text).get("cells", []), digest(text)


def _refuse_other_files(path: str) -> None:
    if not path.endswith(".ipynb"):
        raise DocumentError(
            "invalid_arguments", f"{path} is not a notebook.", "Notebooks end in .ipynb."
        )


def _give_ids(cells: list[Cell], in_file: list[str | None] | None) -> None:
    """Give each cell without an id one that is derived from its content.

    The id has to be the same at the next read, since only a save writes it down.
    """
    own = in_file
    if own is not None and len(own) != len(cells):
        own = [None] * len(cells)  # converted from nbformat 3, which has no ids
    taken: set[str] = set()
    for index, cell in enumerate(cells):
        cell_id = own[index] if own is not None else cell.get("id")
        if cell_id and cell_id not in taken:
            cell["id"] = cell_id
            taken.add(cell_id)
            continue
        seed = f"{cell['cell_type']}\0{source_of(cell)}"
        count = 0
        while (derived := _short_hash(f"{seed}\0{count}")) in taken:
            count += 1
        cell["id"] = derived
        taken.add(derived)


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _validate(path: str, content: dict[str, Any], cells: Sequence[Cell]) -> None:
    """Validate only what is new: the rest was validated when read."""
    part = {**content, "cells": [_without_trust(cell) for cell in cells]}
    try:
        nbformat.validate(_as_node(part))
    except nbformat.ValidationError as error:
        raise DocumentError(
            "invalid_arguments", f"{path} would not be a valid notebook: {error.message}"
        ) from error


def _as_node(content: dict[str, Any]) -> Any:
    return nbformat.from_dict(content)  # type: ignore[no-untyped-call]


def _without_trust(cell: Cell) -> Cell:
    metadata = {key: value for key, value in cell["metadata"].items() if key != "trusted"}
    return {**cell, "metadata": metadata}


def _same_source(wanted: Cell, found: Cell) -> bool:
    return wanted["cell_type"] == found.get("cell_type") and source_of(wanted) == source_of(found)


def _same_outputs(wanted: Cell, found: Cell) -> bool:
    return len(wanted.get("outputs", [])) == len(found.get("outputs", []))


def _altered(wanted: dict[str, Cell], on_disk: Sequence[Cell]) -> bool:
    """Whether a save hook changed the content."""
    return not all(
        _same_source(wanted[cell["id"]], cell) and _same_outputs(wanted[cell["id"]], cell)
        for cell in on_disk
    )

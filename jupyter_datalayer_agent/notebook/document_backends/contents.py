"""Notebooks as the server's ContentsManager has them: read, checked, saved and read back."""

from __future__ import annotations

import asyncio
import copy
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
from ..edits.batch import Cell, EditedCells, outputs_of, page_cell, source_of
from ..large_text import in_thread_if_large
from ..locks import PathLocks
from ..paths import ASK_FOR_PATH
from ..recent import RecentDocuments
from .cell_ids import CellIds, KnownAddresses, cell_ids, ids_in
from .file_errors import invalid, not_as_saved, not_saved, text_lost, unwritable
from .notebook_text import (
    UNREADABLE,
    ParsedNotebook,
    TextLost,
    check_text,
    digest,
    is_plain,
    load,
    parsed,
)

T = TypeVar("T")

_WRITING_TRIES = 5
_WRITING_SECONDS = 0.05
_NEWEST_UNCHECKED = 2  # the versions of nbformat whose cells have their source under other names


@dataclass
class LoadedNotebook:
    """A notebook as it was read. ``content`` is shared with the cache: copy what you change.

    Each cell has its address as ``id``; ``ids`` has what is in the file. ``is_valid`` is by
    nbformat's schema. ``without_outputs`` are touched cells whose outputs a save hook removed from
    the file.
    """

    path: str
    content: dict[str, Any]
    ids: CellIds
    is_valid: bool
    last_modified: Any
    digest: str | None
    without_outputs: frozenset[str] = frozenset()

    @property
    def cells(self) -> list[Cell]:
        """The cells, each with an id."""
        cells: list[Cell] = self.content["cells"]
        return cells

    @cached_property
    def sources(self) -> dict[str, str]:
        """The sources of the cells as they were read, by their addresses."""
        return {cell["id"]: source_of(cell) for cell in self.cells}

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
        self._addresses = KnownAddresses()
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
                found = await self._parsed(path, text)
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

    async def _parsed(self, path: str, text: str) -> ParsedNotebook | dict[str, Any] | None:
        """The notebook of a text, or its JSON; None if it is invalid, which the contents
        manager reports. Raises ``JSONDecodeError`` for a part of one.

        For a contents manager that reads plain notebook files, the text is enough. From any other
        one the notebook is requested, and the text shows only the ids, which nbformat would
        otherwise invent.
        """
        try:
            if is_plain(self.manager):
                notary = self.manager.notary
                return await in_thread_if_large(len(text), parsed, text, notary.compute_signature)
            raw = await in_thread_if_large(len(text), load, text)
            return raw if isinstance(raw, dict) else None
        except TextLost:
            raise text_lost(path) from None
        except json.JSONDecodeError:
            raise
        except (*UNREADABLE, RecursionError):
            return None

    async def save(
        self,
        loaded: LoadedNotebook,
        edited: EditedCells,
        metadata: dict[str, Any] | None = None,
    ) -> LoadedNotebook:
        """Write the cells in place of ``loaded.cells`` and read the file back.

        What was touched is validated before anything is written, and compared with the file
        afterwards; everything else stays as it is in the file, valid or not. Raises
        ``ChangedOnDisk`` when the file is no longer the one that was read.
        """
        async with self._locks.hold(loaded.path):
            return await self._save(loaded, edited, metadata)

    async def _save(
        self, loaded: LoadedNotebook, edited: EditedCells, metadata: dict[str, Any] | None
    ) -> LoadedNotebook:
        path = loaded.path
        _refuse_other_changes(loaded, edited)
        content = {**loaded.content, "cells": edited.cells}
        if metadata is not None:
            content["metadata"] = metadata
        in_file = _writable(path, loaded.ids.written(edited.cells))
        _validate(loaded, content, edited, in_file)
        await self._same_as(loaded)
        given = {**content, "cells": in_file}
        if self._has_save_hooks():
            given = await asyncio.to_thread(copy.deepcopy, given)
        model = {"type": "notebook", "format": "json", "content": given}
        try:
            saved = await uncancelled(ensure_async(self.manager.save(model, path)))
        except HTTPError as error:
            raise not_saved(path, error) from error
        finally:
            self._written(path)
        if loaded.is_valid and (message := saved.get("message")):
            raise DocumentError("internal", f"{path} was saved, but is not valid now: {message}")
        return await self._read_back(loaded, content, edited.touched)

    async def exists(self, path: str) -> bool:
        """Whether there is a file at the path."""
        return bool(await ensure_async(self.manager.file_exists(path)))

    async def _read_back(
        self, before: LoadedNotebook, content: dict[str, Any], touched: Sequence[str]
    ) -> LoadedNotebook:
        path = before.path
        cells: list[Cell] = content["cells"]
        ids = before.ids.after(cells)
        text = await self._text(path)
        if text is None:
            loaded = await self._read(path, None)
            on_disk = loaded.ids.written(loaded.cells)
        else:
            on_disk, digested = await in_thread_if_large(len(text), _looked_at, text)
            model = await self._get(path, content=False)
            modified = model.get("last_modified")
            loaded = LoadedNotebook(path, content, ids, before.is_valid, modified, digested)
        if ids_in({"cells": on_disk}) != [ids.in_file.get(each, each) for each in ids.addresses]:
            self._cache.drop(path)
            raise not_as_saved(path, "its cells are not those that were written")
        found = dict(zip(ids.addresses, on_disk, strict=True))
        wanted = {cell["id"]: cell for cell in cells}
        for cell_id in touched:
            if not _same_source(wanted[cell_id], found[cell_id]):
                self._cache.drop(path)
                raise not_as_saved(path, f"cell {cell_id} is not as it was written")
        loaded.without_outputs = frozenset(
            each for each in touched if not _same_outputs(wanted[each], found[each])
        )
        self._addresses.note(path, ids, cells)
        if text is not None and not _altered(wanted, found):
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
        self, path: str, found: ParsedNotebook | dict[str, Any] | None
    ) -> LoadedNotebook:
        try:
            if isinstance(found, ParsedNotebook):
                model = await self._model_of(path, found)
                content, ids, is_valid = found.content, found.ids, found.problem is None
            else:
                model = await self._get(path, content=True)
                content, is_valid = model["content"], "message" not in model
                ids = _ids_of(content, found)
        except TextLost:
            raise text_lost(path) from None
        except (*UNREADABLE, RecursionError) as error:
            raise invalid(path, f"{type(error).__name__}: {error}") from error
        if content.get("nbformat", 4) != 4:
            raise invalid(path, f"nbformat {content.get('nbformat')} is not supported")
        cells = content["cells"]
        self._addresses.carry(path, ids, cells)
        ids.as_addresses(cells)
        self._addresses.note(path, ids, cells)
        return LoadedNotebook(path, content, ids, is_valid, model.get("last_modified"), None)

    async def _model_of(self, path: str, found: ParsedNotebook) -> dict[str, Any]:
        """The notebook's entry; its cells are marked as trusted or not, as Jupyter does it."""
        model = await self._get(path, content=False)
        notary = self.manager.notary
        trusted = notary.store.check_signature(found.signature, notary.algorithm)
        notary.mark_cells(found.content, trusted)
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


def _ids_of(content: dict[str, Any], raw: dict[str, Any] | None) -> CellIds:
    """The ids of a notebook that a contents manager read, ``raw`` being its JSON, where it has any.

    Raises ``TextLost`` for a notebook that was converted to nbformat 4 and has lost text, or may
    have.
    """
    if raw is None:
        if content["metadata"].get("orig_nbformat", 4) <= _NEWEST_UNCHECKED:
            raise TextLost
        return cell_ids(content, None)
    if raw.get("nbformat") != 4:
        check_text(raw, content)
    return cell_ids(content, ids_in(raw))


def _refuse_other_changes(loaded: LoadedNotebook, edited: EditedCells) -> None:
    """Whatever else is wrong, no cell that the edit does not name may lose its text."""
    now = {cell["id"]: cell for cell in edited.cells}
    for cell_id in loaded.sources.keys() - edited.removed - set(edited.touched):
        if cell_id not in now or source_of(now[cell_id]) != loaded.sources[cell_id]:
            raise DocumentError(
                "internal",
                f"Nothing was written to {loaded.path}: the edit would have changed cell "
                f"{cell_id}, which it is not about.",
                "Read the notebook again, then repeat the edit.",
            )


def _writable(path: str, cells: list[Cell]) -> list[Cell]:
    """The cells with what Jupyter cannot write a notebook without.

    Its reader takes code without ``outputs`` and a stream without ``text``; its writer does not.
    """
    for index, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        cell.setdefault("outputs", [])
        for output in cell["outputs"]:
            if "output_type" not in output:
                raise unwritable(path, index)
        if any(_lacks_text(output) for output in cell["outputs"]):
            cell["outputs"] = [
                {**output, "text": ""} if _lacks_text(output) else output
                for output in cell["outputs"]
            ]
    return cells


def _lacks_text(output: dict[str, Any]) -> bool:
    return output["output_type"] == "stream" and "text" not in output


def _validate(
    loaded: LoadedNotebook, content: dict[str, Any], edited: EditedCells, in_file: Sequence[Cell]
) -> None:
    """Validate only what is new: the rest is as it was in the file.

    A cell that was not valid before may stay so, and so may one that was given whole, as when it is
    restored.
    """
    places = {cell["id"]: index for index, cell in enumerate(edited.cells)}
    new = [each for each in edited.touched if each not in edited.whole]
    try:
        nbformat.validate(_part(content, [in_file[places[each]] for each in new]))
        return
    except nbformat.ValidationError as error:
        problem = error
    before = dict(zip(loaded.ids.addresses, loaded.ids.written(loaded.cells), strict=True))
    for each in new:
        was = [before[each]] if each in before else []
        if _problems(content, [in_file[places[each]]]) - _problems(content, was):
            raise DocumentError(
                "invalid_arguments",
                f"{loaded.path} would not be a valid notebook: {problem.message}",
            ) from problem


def _problems(content: dict[str, Any], cells: list[Cell]) -> set[tuple[Any, ...]]:
    part = _part(content, cells)
    errors = nbformat.validator.iter_validate(part)  # type: ignore[no-untyped-call]
    return {(each.validator, *each.relative_path) for each in errors}


def _part(content: dict[str, Any], cells: Sequence[Cell]) -> Any:
    return _as_node({**content, "cells": [_without_trust(cell) for cell in cells]})


def _as_node(content: dict[str, Any]) -> Any:
    return nbformat.from_dict(content)  # type: ignore[no-untyped-call]


def _without_trust(cell: Cell) -> Cell:
    metadata = {key: value for key, value in cell["metadata"].items() if key != "trusted"}
    return {**cell, "metadata": metadata}


def _same_source(wanted: Cell, found: Cell) -> bool:
    return wanted["cell_type"] == found.get("cell_type") and source_of(wanted) == source_of(found)


def _same_outputs(wanted: Cell, found: Cell) -> bool:
    return len(outputs_of(wanted)) == len(outputs_of(found))


def _altered(wanted: dict[str, Cell], found: dict[str, Cell]) -> bool:
    """Whether a save hook changed the content."""
    return not all(
        _same_source(wanted[cell_id], cell) and _same_outputs(wanted[cell_id], cell)
        for cell_id, cell in found.items()
    )

"""Notebooks as the server's ContentsManager has them: read, checked, saved and read back."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import nbformat
from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from ... import opening
from ...protocol.cells import PageCell, line_feeds
from ...protocol.renames import Rename
from ..brief_outputs import BRIEF_CELLS, brief_errors, brief_outputs
from ..document import DocumentError
from ..edits.batch import Cell, EditedCells, outputs_of, page_cell, source_of
from ..large_text import in_thread_if_large
from ..locks import PathLocks, uncancelled
from ..paths import ASK_FOR_PATH
from ..recent import RecentDocuments
from ..renames import Renames, TrackedPath
from ..save_hooks import may_change_files, may_change_models, may_format
from ..twins import Twins
from .cell_ids import (
    NO_ID,
    CellIds,
    KnownAddresses,
    cell_ids,
    ids_in,
    requires_ids,
    version_of,
)
from .notebook_text import (
    UNREADABLE,
    ParsedNotebook,
    TextLost,
    TextLostError,
    check_size,
    digest,
    invalid,
    is_plain,
    load,
    not_a_notebook,
    not_as_saved,
    not_readable,
    not_saved,
    parsed,
    text_lost,
    unwritable,
)

log = logging.getLogger(__name__)

T = TypeVar("T")

_WRITING_TRIES = 5
_WRITING_SECONDS = 0.05
_NEWEST_UNCHECKED = 2  # the versions of nbformat whose cells have their source under other names


@dataclass
class LoadedNotebook:
    """A notebook as it was read. ``content`` is shared with the cache: copy what you change.

    Each cell has its address as ``id``; ``ids`` has what is in the file. ``is_valid`` is by
    nbformat's schema. ``digest`` identifies what was read: the file's text, or the content that the
    manager made of several files. Of the touched cells of a save, the file lacks the outputs of
    ``without_outputs``, and ``altered`` ones are not as they were given: a save hook or the file's
    format changed them.
    """

    document: TrackedPath
    content: dict[str, Any]
    ids: CellIds
    is_valid: bool
    last_modified: Any
    digest: str | None
    without_outputs: frozenset[str] = frozenset()
    altered: frozenset[str] = frozenset()

    @property
    def path(self) -> str:
        """Where it is now."""
        return self.document.path

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
    def texts(self) -> list[tuple[str, str]]:
        """The addresses and texts of the cells, as ``KnownAddresses`` compares them."""
        return self.ids.texts(self.cells)

    @cached_property
    def page_cells(self) -> list[PageCell]:
        """The cells in wire format, without outputs; made once for all readers."""
        return [page_cell(cell, index) for index, cell in enumerate(self.cells)]

    @cached_property
    def brief_cells(self) -> list[PageCell]:
        """The same with brief outputs, where they have any."""
        brief = brief_outputs if len(self.cells) <= BRIEF_CELLS else brief_errors
        found = [brief(cell.get("outputs") or ()) for cell in self.cells]
        return [
            cell.model_copy(update={"outputs": outputs}) if outputs else cell
            for cell, outputs in zip(self.page_cells, found, strict=True)
        ]

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
    parsed again. A manager that does not read plain files is asked for the notebook each time: it
    alone knows which files it is made of. ``check_writable`` raises ``DocumentError`` where a file
    may not be written now; ``written`` is called with the path of each file that was written. The
    text of a file on this machine, in ``root_dir``, is read from there.
    """

    def __init__(
        self,
        contents_manager: Any,
        renames: Renames,
        twins: Twins,
        written: Callable[[str], None],
        check_writable: Callable[[str], Awaitable[None]],
        root_dir: str | None = None,
    ) -> None:
        self.manager = contents_manager
        self._root = root_dir
        self._twins = twins
        self.check_writable = check_writable
        self._renames = renames
        self._written = written
        self._cache = RecentDocuments[LoadedNotebook]()
        self.addresses = KnownAddresses()
        self._whole: set[str] = set()
        # Ids that two readings agree on: others are invented by each reading.
        self._lasting: dict[str, frozenset[str]] = {}
        self._locks = PathLocks()

    def _hold(self, path: str) -> AbstractAsyncContextManager[None]:
        """Files that are written together have one lock."""
        return self._locks.hold(min([path, *self._twins.of(path)]))

    async def check(self, path: str) -> None:
        """Raise ``DocumentError`` unless there is a notebook at the path that can be read."""
        await self.load(path)

    async def check_text(self, path: str) -> None:
        """Raise ``DocumentError`` if a page shows the cells of this file without their text: its
        save would delete it. Looked at once; a page that shows the text keeps it."""
        if path in self._whole:
            return
        try:
            await self.load(path)
        except TextLostError:
            raise
        except DocumentError as error:
            log.debug("%s was not looked at: %s", path, error)
        self._whole.add(path)

    async def load(self, path: str) -> LoadedNotebook:
        """The current notebook. Raises ``DocumentError`` if it is missing or invalid."""
        # Jupyter writes a file in place. A reader may see a part of it, which the contents manager
        # takes for a broken file and replaces by the old one.
        document = self._renames.track(path)
        while True:
            await self._twins.learn(document.path, is_read=True)
            async with self._renames.using(document) as now, self._hold(now):
                try:
                    return await self._load(now)
                except DocumentError:
                    # A contents manager whose methods are not async does not wait for us with a
                    # rename, here and below.
                    if document.path == now:
                        raise

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``."""
        self._cache.renamed(rename)
        self.addresses.renamed(rename)
        rename.rekey(self._lasting)

    def seen(self, loaded: LoadedNotebook) -> None:
        """Note that its cells are addressed by these ids now."""
        if loaded.ids.derived:
            self.addresses.seen(loaded.path, loaded.texts)

    async def _load(self, path: str) -> LoadedNotebook:
        if not is_plain(self.manager):
            return await self._served(path)
        if not path.endswith(".ipynb"):
            raise not_a_notebook(path)
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

    async def _parsed(self, path: str, text: str) -> ParsedNotebook | None:
        """The notebook of a text; None if it is invalid, which the contents manager reports.
        Raises ``JSONDecodeError`` for a part of one."""
        try:
            notary = self.manager.notary
            return await in_thread_if_large(len(text), parsed, text, notary.compute_signature)
        except TextLost:
            raise text_lost(path) from None
        except json.JSONDecodeError:
            raise
        except (*UNREADABLE, RecursionError):
            return None

    async def _served(self, path: str, written: Collection[str] = ()) -> LoadedNotebook:
        """The notebook that the manager makes of its files, whatever they are. ``written`` are the
        ids that were just given to it."""
        model = await self._notebook_model(path)
        names = _names_in(model)
        lasting = self._lasting.get(path, frozenset()) | names.intersection(written)
        version = await _version(model, lasting)
        cached = self._cache.get(path)
        if cached is not None and cached.digest == version:
            return cached
        if not written and names - lasting:
            # Those that the manager invents are others each time.
            model = await self._notebook_model(path)
            lasting = names & _names_in(model)
            version = await _version(model, lasting)
        self._lasting[path] = lasting
        loaded = self._loaded(path, model, cell_ids(model["content"], _in_file(model, lasting)))
        loaded.digest = version
        self._cache.keep(path, loaded, model.get("size") or 0)
        return loaded

    async def _notebook_model(self, path: str) -> dict[str, Any]:
        """What the manager gives for a path that it serves as a notebook."""
        if not path.endswith(".ipynb"):
            kind = await self._get(path, content=False, kind=None)
            if kind["type"] != "notebook":
                raise not_a_notebook(path)
        for _ in range(_WRITING_TRIES):
            try:
                model = await self._get(path, content=True)
                check_size(path, model.get("size") or 0)
                _check_served(path, model["content"])
                return model
            except DocumentError as error:
                if error.code in ("not_found", "too_large"):
                    raise
                failed = error
            # It may be half-written by another program.
            await asyncio.sleep(_WRITING_SECONDS)
        raise failed

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
        async with self._renames.using(loaded.document) as path, self._hold(path):
            return await self._save(path, loaded, edited, metadata)

    async def _save(
        self,
        path: str,
        loaded: LoadedNotebook,
        edited: EditedCells,
        metadata: dict[str, Any] | None,
    ) -> LoadedNotebook:
        _refuse_other_changes(loaded, edited)
        content = {**loaded.content, "cells": edited.cells}
        if metadata is not None:
            content["metadata"] = metadata
        in_file = _writable(path, loaded.ids.written(edited.cells))
        _validate(loaded, content, edited, in_file)
        given = {**content, "cells": in_file}
        # A hook may change its model, and ours is shared with the cache.
        if not is_plain(self.manager) or may_change_models(self.manager):
            given = await asyncio.to_thread(copy.deepcopy, given)
        try:
            await self._same_as(path, loaded)
        except DocumentError:
            if loaded.path == path:
                raise
        if loaded.path != path:
            raise ChangedOnDisk
        model = {"type": "notebook", "format": "json", "content": given}
        await self.check_writable(path)
        try:
            saved = await uncancelled(ensure_async(self.manager.save(model, path)))
        except HTTPError as error:
            raise not_saved(path, error) from error
        finally:
            self._written(path)
        if loaded.is_valid and (message := saved.get("message")):
            raise DocumentError("internal", f"{path} was saved, but is not valid now: {message}")
        # Hooks change the model that they are given.
        made = model["content"] if is_plain(self.manager) else None
        while True:
            path = loaded.path
            try:
                return await self._read_back(loaded, content, made, edited.touched)
            except DocumentError:
                if loaded.path == path:
                    raise

    async def formatted(self, path: str, cells: Sequence[PageCell]) -> dict[str, str]:
        """Of cells that a page just saved, by their ids, the sources that a save hook changed."""
        if not is_plain(self.manager) or not may_format(self.manager):
            return {}
        saved = (await self.load(path)).sources
        return {
            cell.id: saved[cell.id]
            for cell in cells
            if line_feeds(saved.get(cell.id, cell.source)) != line_feeds(cell.source)
        }

    async def exists(self, path: str) -> bool:
        """Whether there is a file at the path."""
        return bool(await ensure_async(self.manager.file_exists(path)))

    async def _read_back(
        self, before: LoadedNotebook, content: dict[str, Any], made: Any, touched: Sequence[str]
    ) -> LoadedNotebook:
        """The notebook as it was saved, which is ``content``; or what save hooks ``made`` of it;
        or, where the manager does not say what it made, what can be recognized."""
        path = before.path
        try:
            if made is None:
                self.addresses.wrote(path, content["cells"])
                loaded = await self._served(path, {cell["id"] for cell in content["cells"]})
            else:
                loaded = await self._read_plain_back(before, content, made, touched)
            if loaded.content is content:
                return loaded
            return _compared(before, content, loaded, touched)
        except DocumentError:
            self._cache.drop(path)
            raise

    async def _read_plain_back(
        self, before: LoadedNotebook, content: dict[str, Any], made: Any, touched: Sequence[str]
    ) -> LoadedNotebook:
        path = before.path
        cells: list[Cell] = content["cells"]
        text = await self._text(path)
        if text is None:
            self.addresses.wrote(path, cells)
            return await self._read(path, None)
        on_disk, digested = await in_thread_if_large(len(text), _looked_at, text)
        if not may_change_files(self.manager):
            _check_written(path, cells, made, on_disk, touched)
        if made.get("metadata") != content.get("metadata") or _altered(cells, on_disk):
            self.addresses.wrote(path, cells)
            loaded = await self._read(path, await self._parsed(path, text))
            loaded.digest = digested
        else:
            modified = (await self._get(path, content=False)).get("last_modified")
            ids = before.ids.after(cells)
            document = self._renames.track(path)
            loaded = LoadedNotebook(document, content, ids, before.is_valid, modified, digested)
            self.seen(loaded)
        self._cache.keep(path, loaded, len(text))
        return loaded

    async def _same_as(self, path: str, loaded: LoadedNotebook) -> None:
        if not is_plain(self.manager):
            if (await self._served(path)).digest != loaded.digest:
                raise ChangedOnDisk
        elif loaded.digest is not None:
            text = await self._text(path)
            if text is None or loaded.digest != await in_thread_if_large(len(text), digest, text):
                raise ChangedOnDisk
        elif (await self._get(path, content=False)).get("last_modified") != loaded.last_modified:
            raise ChangedOnDisk

    async def _text(self, path: str) -> str | None:
        """The file's text; None where this contents manager has no text for notebooks."""
        on_disk = self._root is not None
        try:
            model = await ensure_async(
                self.manager.get(path, content=not on_disk, type="file", format="text")
            )
        except HTTPError as error:
            if error.status_code == 404:
                raise DocumentError(
                    "not_found", f"There is no file {path}.", ASK_FOR_PATH
                ) from error
            return None
        text = await asyncio.to_thread(self._file_text, path) if on_disk else model.get("content")
        return text if isinstance(text, str) else None

    def _file_text(self, path: str) -> str | None:
        # Not by the manager: it opens a path that was checked before, and may have become a link.
        try:
            with opening.opened(self.manager._get_os_path(path), self._root) as file:
                check_size(path, file.status.st_size)
                return file.file.read().decode("utf-8")
        except opening.NotRead as error:
            raise DocumentError("not_allowed", f"{path} {error.strerror}.") from error
        except FileNotFoundError as error:
            raise DocumentError("not_found", f"There is no file {path}.", ASK_FOR_PATH) from error
        except (OSError, UnicodeDecodeError):
            return None

    async def _read(self, path: str, found: ParsedNotebook | None) -> LoadedNotebook:
        try:
            if found is None:
                model = await self._get(path, content=True)
                _check_served(path, model["content"])
                return self._loaded(path, model, cell_ids(model["content"], None))
            model = {**await self._model_of(path, found), "content": found.content}
        except (*UNREADABLE, RecursionError) as error:
            raise invalid(path, f"{type(error).__name__}: {error}") from error
        if found.problem is not None:
            model["message"] = found.problem.message
        return self._loaded(path, model, found.ids)

    def _loaded(self, path: str, model: dict[str, Any], ids: CellIds) -> LoadedNotebook:
        content: dict[str, Any] = model["content"]
        if content.get("nbformat", 4) != 4:
            raise invalid(path, f"nbformat {content.get('nbformat')} is not supported")
        cells = content["cells"]
        ids.as_addresses(cells)
        self.addresses.carry(path, ids, cells)
        is_valid = "message" not in model
        document = self._renames.track(path)
        modified = model.get("last_modified")
        loaded = LoadedNotebook(document, content, ids, is_valid, modified, None)
        self.seen(loaded)
        return loaded

    async def _model_of(self, path: str, found: ParsedNotebook) -> dict[str, Any]:
        """The notebook's entry; its cells are marked as trusted or not, as Jupyter does it."""
        model = await self._get(path, content=False)
        notary = self.manager.notary
        trusted = notary.store.check_signature(found.signature, notary.algorithm)
        notary.mark_cells(found.content, trusted)
        return model

    async def _get(
        self, path: str, *, content: bool, kind: str | None = "notebook"
    ) -> dict[str, Any]:
        try:
            model: dict[str, Any] = await ensure_async(
                self.manager.get(path, content=content, type=kind)
            )
        except HTTPError as error:
            if error.status_code == 404:
                raise DocumentError(
                    "not_found", f"There is no notebook {path}.", ASK_FOR_PATH
                ) from error
            problem = not_readable if error.status_code >= 500 else invalid
            raise problem(path, error.log_message or str(error)) from error
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


def _names_in(model: dict[str, Any]) -> frozenset[str]:
    return frozenset(each for each in ids_in(model["content"]) if isinstance(each, str))


def _in_file(model: dict[str, Any], lasting: Collection[str]) -> list[Any]:
    """The ids that the cells have in a file: those that every reading finds."""
    ids = ids_in(model["content"])
    return [each if isinstance(each, str) and each in lasting else NO_ID for each in ids]


async def _version(model: dict[str, Any], lasting: Collection[str]) -> str:
    content, size = model["content"], model.get("size") or 0
    return await in_thread_if_large(size, version_of, content, _in_file(model, lasting))


def _check_served(path: str, content: Any) -> None:
    """Raise ``DocumentError`` for what a contents manager read, and nothing can be done with."""
    try:
        if content["metadata"].get("orig_nbformat", 4) <= _NEWEST_UNCHECKED:
            raise text_lost(path)
        # Each cell has a type, and a source that can be read.
        for cell in content["cells"]:
            _ = cell["cell_type"], source_of(cell)
    except (*UNREADABLE, RecursionError) as error:
        raise invalid(path, f"{type(error).__name__}: {error}") from error


def _check_written(
    path: str, cells: Sequence[Cell], made: Any, on_disk: Sequence[Any], touched: Sequence[str]
) -> None:
    """Raise ``DocumentError`` unless the file has the cells as hooks made them of ``cells``."""
    if ids_in({"cells": on_disk}) != ids_in(made):
        raise not_as_saved(path, "its cells are not those that were written")
    if len(cells) == len(on_disk):
        looked_for = set(touched)
        for cell, wanted, found in zip(cells, made["cells"], on_disk, strict=True):
            if cell["id"] in looked_for and not _same_source(wanted, found):
                raise not_as_saved(path, f"cell {cell['id']} is not as it was written")


def _compared(
    before: LoadedNotebook,
    content: dict[str, Any],
    loaded: LoadedNotebook,
    touched: Sequence[str],
) -> LoadedNotebook:
    """What was read back, with what differs from the content that was to be saved.

    Raises ``DocumentError`` unless the change is there: every cell that was written, in this order,
    none that was deleted, and no touched one with the source that it had before.
    """
    path = before.path
    old = {cell["id"]: cell for cell in before.cells}
    wanted = {cell["id"]: cell for cell in content["cells"]}
    found = {cell["id"]: cell for cell in loaded.cells}
    # A text format may leave out empty cells.
    lost = [
        each
        for each, cell in wanted.items()
        if each not in found and (each in touched or source_of(cell).strip())
    ]
    if (
        lost
        or [each for each in found if each in wanted] != [each for each in wanted if each in found]
        or any(each in found for each in old if each not in wanted)
    ):
        raise not_as_saved(path, "its cells are not those that were written")
    altered, without_outputs = set(), set()
    for cell_id in touched:
        cell = found[cell_id]
        if not _same_source(wanted[cell_id], cell):
            if cell_id in old and _same_source(old[cell_id], cell):
                raise not_as_saved(path, f"cell {cell_id} is as it was before")
            altered.add(cell_id)
        elif _metadata(wanted[cell_id]) != _metadata(cell):
            altered.add(cell_id)
        if not _same_outputs(wanted[cell_id], cell):
            without_outputs.add(cell_id)
    return replace(loaded, altered=frozenset(altered), without_outputs=frozenset(without_outputs))


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
    # An older notebook whose cells have ids gets new ones with ids, too.
    left_out = () if requires_ids(content) else ("id",)
    plain = [
        {key: value for key, value in _without_trust(cell).items() if key not in left_out}
        for cell in cells
    ]
    return _as_node({**content, "cells": plain})


def _as_node(content: dict[str, Any]) -> Any:
    return nbformat.from_dict(content)  # type: ignore[no-untyped-call]


def _without_trust(cell: Cell) -> Cell:
    return {**cell, "metadata": _metadata(cell)}


def _metadata(cell: Cell) -> Any:
    metadata = cell.get("metadata")
    if not isinstance(metadata, dict):
        return metadata
    return {key: value for key, value in metadata.items() if key != "trusted"}


def _same_source(wanted: Cell, found: Cell) -> bool:
    return wanted["cell_type"] == found.get("cell_type") and source_of(wanted) == source_of(found)


def _same_outputs(wanted: Cell, found: Cell) -> bool:
    return len(outputs_of(wanted)) == len(outputs_of(found))


def _altered(wanted: Sequence[Cell], on_disk: Sequence[Cell]) -> bool:
    """Whether a save hook changed the content."""
    return len(wanted) != len(on_disk) or not all(
        _same_source(cell, found)
        and _same_outputs(cell, found)
        and _metadata(cell) == _metadata(found)
        for cell, found in zip(wanted, on_disk, strict=True)
    )

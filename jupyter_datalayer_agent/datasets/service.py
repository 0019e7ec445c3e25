"""The data sets of one server: received, converted, kept, listed, deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from ..protocol.base import now_ms
from ..protocol.datasets import Dataset, UploadProgress
from ..protocol.errors import AgentError
from .conversion_process import Converter, OnProgress
from .folder import DatasetFolder
from .incoming import Incoming, format_size, too_large
from .names import safe_name

Rows = list[dict[str, Any]]

FORM_BYTES = 200_000
"""The most bytes of a form besides the file."""


class Records(Protocol):
    """Stores the list of data sets: see ``store/queries/datasets.py``."""

    async def save(self, root: str, dataset: Dataset, sample: Rows) -> None: ...
    async def register(self, session_id: str, root: str, name: str) -> bool: ...
    async def known(self, root: str, session_id: str | None = None) -> list[Dataset]: ...
    async def get(self, root: str, name: str) -> tuple[Dataset, Rows] | None: ...
    async def delete(self, root: str, name: str) -> bool: ...
    async def forget(self, session_id: str) -> None: ...


async def _unheard(_: UploadProgress) -> None:
    return None


class Datasets:
    """What handlers, tools and sessions do with data sets.

    ``root_dir`` is None where the contents manager does not keep files on this machine: then there
    are no data sets, and receiving one reports why. Names are unique under the root.
    """

    def __init__(
        self,
        root_dir: str | None,
        records: Records | None,
        max_upload_bytes: Callable[[], int],
    ) -> None:
        self._folder = DatasetFolder(root_dir) if root_dir is not None else None
        self._kept = records
        self._limit = max_upload_bytes
        self._converter = Converter()

    @property
    def _records(self) -> Records:
        if self._kept is None:
            raise AgentError("internal", "Data sets are not available on this server.")
        return self._kept

    @property
    def limit(self) -> int:
        """How large an upload may be, in bytes."""
        return self._limit()

    def begin(self, length: int | None = None) -> Incoming:
        """Begin an upload; ``length`` in bytes if known. Raises ``AgentError``."""
        if self._folder is None:
            raise AgentError(
                "invalid_request",
                "Data sets are files under the server's root directory, and this server keeps its "
                "documents elsewhere (its contents manager has no such directory).",
            )
        if length is not None and length > self.limit + FORM_BYTES:
            raise too_large(self.limit)
        room = self._folder.room()
        if length is not None and length > room:
            raise AgentError(
                "too_large",
                f"The file has {format_size(length)}; the server has {format_size(room)} free.",
            )
        return Incoming(self._folder, self.limit)

    async def finish(
        self,
        upload: Incoming,
        source: str,
        name: str | None = None,
        session_id: str | None = None,
        on_progress: OnProgress = _unheard,
        choices: Mapping[str, str] | None = None,
    ) -> Dataset:
        """Make a data set of a complete upload; ``source`` is the file's own name, ``choices`` how
        the user says that it is written (see ``Converter.convert``).

        Raises ``AgentError`` without leaving anything behind; the caller discards ``upload``. With
        a session the data set is known to that one, else to all.
        """
        assert self._folder is not None
        shown = source.replace("\\", "/").rsplit("/", 1)[-1] or "The file"
        path = await upload.finish()
        table = upload.work / "table.parquet"
        facts = await self._converter.convert(path, table, upload.work, shown, on_progress, choices)
        wanted = safe_name(name, is_file=False) if name else safe_name(source)
        # From here on uninterrupted: a file and its record both exist, or neither.
        keeping = asyncio.ensure_future(self._keep(table, wanted, shown, facts, session_id))
        try:
            return await asyncio.shield(keeping)
        except asyncio.CancelledError:
            await asyncio.wait([keeping])
            if not keeping.exception():
                await self.delete(keeping.result().name)
            raise

    async def _keep(
        self, table: Path, wanted: str, source: str, facts: dict[str, Any], session_id: str | None
    ) -> Dataset:
        assert self._folder is not None
        sample = facts.pop("sample")
        # A data set whose file was moved out of the folder keeps its name.
        taken = [each.name for each in await self.known()]
        name = await asyncio.to_thread(self._folder.place, table, wanted, taken)
        dataset = Dataset(
            name=name,
            path=self._folder.relative(name),
            source=source[:500],
            shared=session_id is None,
            created_at=now_ms(),
            **facts,
        )
        records = self._records
        try:
            await records.save(self._root, dataset, sample)
            if session_id is not None:
                await records.register(session_id, self._root, name)
        except BaseException:
            await records.delete(self._root, name)
            await asyncio.to_thread(self._remove, dataset.path)
            raise
        return dataset

    async def known(self, session_id: str | None = None) -> list[Dataset]:
        """All, or those that a session knows, the newest first, if their files exist."""
        if self._folder is None:
            return []
        found = await self._records.known(self._root, session_id)
        return [each for each in found if self._folder.file_at(each.path) is not None]

    async def get(self, name: str) -> Dataset:
        """The data set. Raises ``AgentError`` ``not_found`` that lists the existing ones."""
        return (await self._find(name))[0]

    async def sample(self, name: str) -> Rows:
        """Its first three rows, with long values cut. Raises ``AgentError`` ``not_found``."""
        return (await self._find(name))[1]

    async def file(self, name: str) -> Path:
        """Its Parquet file. Raises ``AgentError`` ``not_found``."""
        dataset, _ = await self._find(name)
        assert self._folder is not None
        path = self._folder.file_at(dataset.path)
        if path is None:
            raise await self._unknown(name)
        return path

    async def register(self, session_id: str, name: str) -> tuple[Dataset, bool]:
        """Make a data set known to a session; False if it already was. Raises ``not_found``."""
        dataset = await self.get(name)
        return dataset, await self._records.register(session_id, self._root, name)

    async def forget(self, session_id: str) -> None:
        """Make the session forget its own data sets."""
        if self._folder is not None:
            await self._records.forget(session_id)

    async def delete(self, name: str) -> None:
        """Remove the file, and the data set from every session. Raises ``not_found``."""
        found = None if self._folder is None else await self._records.get(self._root, name)
        if found is None or not await self._records.delete(self._root, name):
            raise await self._unknown(name)
        await asyncio.to_thread(self._remove, found[0].path)

    async def _find(self, name: str) -> tuple[Dataset, Rows]:
        if self._folder is not None:
            found = await self._records.get(self._root, name)
            if found is not None and self._folder.file_at(found[0].path) is not None:
                return found
        raise await self._unknown(name)

    async def _unknown(self, name: str) -> AgentError:
        there = ", ".join(each.name for each in (await self.known())[:20]) or "none"
        return AgentError("not_found", f"There is no data set {name!r}. There are: {there}.")

    @property
    def _root(self) -> str:
        assert self._folder is not None
        return str(self._folder.root)

    def _remove(self, path: str) -> None:
        assert self._folder is not None
        file = self._folder.file_at(path)
        if file is not None:
            file.unlink(missing_ok=True)


def no_datasets() -> Datasets:
    """A service without data sets, for callers that need none."""
    return Datasets(None, None, lambda: 0)

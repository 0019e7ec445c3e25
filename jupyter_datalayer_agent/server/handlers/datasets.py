"""``upload`` and ``datasets``: upload, list and delete data sets."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from pydantic import ValidationError
from tornado import web
from tornado.iostream import StreamClosedError

from ...agent.session.datasets import emit_registered
from ...datasets.incoming import (
    Field,
    FileData,
    FileEnd,
    FileStart,
    Incoming,
    MultipartReader,
    disk_error,
)
from ...protocol.base import Wire
from ...protocol.datasets import (
    Dataset,
    DatasetsReply,
    ReadingChoices,
    UploadForm,
    UploadProgress,
    UploadReply,
)
from ...protocol.errors import AgentError
from ...protocol.json_text import to_json
from ..base.handler import Handler, Operation, Route, route

# ``POST upload``: streams a file to disk and makes a data set of it.


# Our limit is enforced and reported here: past its own, tornado only closes the connection.
ANY_SIZE = 1 << 62
LINGER_SECONDS = 30.0
CHOICES = tuple(ReadingChoices.model_fields)
NDJSON = "application/x-ndjson"


@web.stream_request_body
class UploadHandler(Handler):
    """One upload. After any failure or disconnect, no partial file is left."""

    _reader: MultipartReader | None = None
    _upload: Incoming | None = None
    _filename: str | None = None
    _whole = False
    _gone = False
    _refused_at: float | None = None
    _finishing: asyncio.Task[Dataset] | None = None

    def initialize(self) -> None:
        """Prepare for the body, which arrives in chunks."""
        self._fields: dict[str, str] = {}
        self._streaming = False

    async def prepare(self) -> None:  # type: ignore[override]
        """Check the upload before the file is sent: the body comes after this."""
        await super().prepare()
        if self.request.method != "POST":
            return
        if not self.current_user or not await self.may("write"):
            raise web.HTTPError(403)
        connection: Any = self.request.connection
        connection.set_max_body_size(ANY_SIZE)
        length = self.request.headers.get("Content-Length")
        try:
            self._reader = MultipartReader(self.request.headers.get("Content-Type", ""))
            self._fields |= {
                name: self.get_query_argument(name)
                for name in ("sessionId", "name", *CHOICES)
                if self.get_query_argument(name, "")
            }
            await self._check_session()
            datasets = self.parts.datasets
            self._upload = datasets.begin(int(length) if length else None)
        except AgentError as error:
            await self._refuse(error)
        except OSError as error:
            await self._refuse(disk_error(error))

    async def data_received(self, chunk: bytes) -> None:
        """Write a chunk of the body. Tornado awaits it, so a slow disk slows the sender."""
        if self._refused_at is not None:
            if time.monotonic() - self._refused_at > LINGER_SECONDS:
                self.request.connection.stream.close()  # type: ignore[union-attr]
            return
        if self._reader is None or self._upload is None:
            return
        try:
            for part in self._reader.feed(chunk):
                if isinstance(part, FileStart):
                    self._begin_file(part)
                elif isinstance(part, FileData):
                    await self._upload.write(part.data)
                elif isinstance(part, FileEnd):
                    self._whole = True
                else:
                    await self._field(part)
        except AgentError as error:
            await self._drop()
            await self._refuse(error)

    @route("write")
    async def post(self) -> None:
        if self._refused_at is not None:
            self.finish()
            return
        try:
            answer: Wire = UploadReply(dataset=await self._finish_upload())
        except AgentError as error:
            if not self._streaming:
                raise
            answer = error.reply()
        except asyncio.CancelledError:
            return  # the client is gone
        finally:
            await self._drop()
        if self._streaming:
            self._line(answer.to_wire())
            self.finish()
        else:
            self.reply(answer, 201)

    def on_connection_close(self) -> None:
        """The client disconnected: remove the partial file, stop a conversion."""
        self._gone = True
        super().on_connection_close()
        if self._finishing is not None:
            self._finishing.cancel()
        else:
            self._dropping = asyncio.ensure_future(self._drop())

    async def _finish_upload(self) -> Dataset:
        if self._reader is None or self._upload is None or self._filename is None:
            raise AgentError(
                "invalid_request", "The form contains no file. Send it in the field file."
            )
        if not self._whole or not self._reader.ended:
            raise AgentError("invalid_request", "The upload ended before the file was complete.")
        if NDJSON in self.request.headers.get("Accept", ""):
            self._streaming = True
            self.set_header("Content-Type", NDJSON)
            self.set_header("Cache-Control", "no-cache")
            self.set_header("X-Accel-Buffering", "no")
        session_id = self._fields.get("sessionId") or None
        self._finishing = asyncio.ensure_future(
            self.parts.datasets.finish(
                self._upload,
                self._filename,
                self._fields.get("name"),
                session_id,
                self._on_progress,
                self._choices(),
            )
        )
        if self._gone:
            self._finishing.cancel()
        dataset = await self._finishing
        self._finishing = None
        if session_id is not None:
            session = await self.parts.sessions.live(session_id)
            await emit_registered(session.state, dataset)
        return dataset

    def _choices(self) -> dict[str, str]:
        given = {name: self._fields[name] for name in CHOICES if self._fields.get(name)}
        try:
            return ReadingChoices.model_validate(given).model_dump(exclude_none=True)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            raise AgentError("invalid_request", f"{problem['loc'][0]}: {problem['msg']}") from error

    async def _on_progress(self, progress: UploadProgress) -> None:
        if self._streaming:
            self._line(progress.to_wire())
            await self.flush()

    def _line(self, message: dict[str, Any]) -> None:
        self.write(to_json(message) + "\n")

    def _begin_file(self, part: FileStart) -> None:
        if part.name != "file" or self._filename is not None:
            raise AgentError("invalid_request", "Send one file at a time, in the field file.")
        self._filename = part.filename or "upload"

    async def _field(self, part: Field) -> None:
        self._fields[part.name] = part.value
        if part.name == "sessionId":
            await self._check_session()

    async def _check_session(self) -> None:
        if self._fields.get("sessionId"):
            await self.parts.store.sessions.get(self._fields["sessionId"])

    async def _drop(self) -> None:
        upload, self._upload = self._upload, None
        if upload is not None:
            await upload.discard()

    async def _refuse(self, error: AgentError) -> None:
        """Report the error now, and keep reading: a sender whose connection is closed while it
        sends never reads the reason."""
        self._refused_at = time.monotonic()
        body = to_json(error.reply().to_wire()).encode()
        self.set_status(error.status)
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.set_header("Content-Length", str(len(body)))
        self.set_header("Connection", "close")
        self.write(body)
        try:
            await self.flush()
        except StreamClosedError:
            return


UPLOAD_ROUTES = [
    Route(
        "upload",
        UploadHandler,
        {
            "post": Operation(
                "Upload a file as a data set (CSV, TSV, Parquet, JSON lines, Excel)",
                UploadForm,
                UploadReply,
                status=201,
                query={
                    "sessionId": "like the form's field: the session to register it in",
                    "name": "like the form's field: the data set's name",
                    "encoding": "like the form's field: the encoding of a text file",
                    "delimiter": "like the form's field: the character between values",
                    "decimal": "like the form's field: the decimal mark, . or ,",
                },
                takes="multipart/form-data",
            )
        },
    )
]


class DatasetsHandler(Handler):
    """All data sets, or those of a session."""

    @route("read")
    async def get(self) -> DatasetsReply:
        session_id = self.get_query_argument("sessionId", "") or None
        runtime = self.parts
        if session_id is not None:
            await runtime.store.sessions.get(session_id)
        return DatasetsReply(
            datasets=await runtime.datasets.known(session_id),
            max_upload_bytes=runtime.datasets.limit,
        )


class DatasetHandler(Handler):
    """One data set."""

    @route("write")
    async def delete(self, name: str) -> None:
        await self.parts.datasets.delete(name)
        self.set_status(204)
        self.finish()


ROUTES = [
    Route(
        "datasets",
        DatasetsHandler,
        {
            "get": Operation(
                "Data sets, the newest first",
                response=DatasetsReply,
                query={"sessionId": "only those of this session"},
            )
        },
    ),
    Route(
        "datasets/{name}",
        DatasetHandler,
        {"delete": Operation("Delete the data set and its file", status=204)},
    ),
]

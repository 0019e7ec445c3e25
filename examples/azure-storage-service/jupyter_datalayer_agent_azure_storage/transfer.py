"""Bytes to and from a blob, with progress; a transfer that is cancelled leaves nothing behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from azure.storage.blob import BlobServiceClient

from jupyter_datalayer_agent.services.action import ActionFailed, Progress

from .account import Account
from .base import OfBlob

Hook = Callable[[int, "int | None"], None]


class _Cancelled(Exception):
    """Ends the thread of a transfer that the user cancelled."""


async def fetch(parameters: OfBlob, target: Path, progress: Progress) -> None:
    """Download a blob to a file that is not there yet. Raises ``ActionFailed``."""
    container, blob = parameters.container, parameters.blob
    part = target.with_name(f".{target.name}.part")

    def download(client: BlobServiceClient, hook: Hook) -> None:
        try:
            with part.open("wb") as opened:
                source = client.get_blob_client(container, blob)
                source.download_blob(progress_hook=hook).readinto(opened)
            if target.exists():
                raise ActionFailed(f"There is a file {target.name} already. Choose another name.")
            part.rename(target)
        finally:
            part.unlink(missing_ok=True)

    await _transfer(parameters, download, progress, f"Downloading {blob}", blob)


async def send(parameters: Any, source: Path, blob: str, progress: Progress) -> None:
    """Upload a file to a blob that is not there yet. Raises ``ActionFailed``."""
    container = parameters.container

    def upload(client: BlobServiceClient, hook: Hook) -> None:
        with source.open("rb") as opened:
            target = client.get_blob_client(container, blob)
            target.upload_blob(opened, overwrite=False, progress_hook=hook)

    await _transfer(parameters, upload, progress, f"Uploading {source.name}", blob)


async def _transfer(
    parameters: Any,
    work: Callable[[BlobServiceClient, Hook], None],
    progress: Progress,
    message: str,
    blob: str,
) -> None:
    loop = asyncio.get_running_loop()
    cancelled = threading.Event()
    reports: set[asyncio.Task[None]] = set()

    def report(fraction: float | None) -> None:
        task = asyncio.ensure_future(progress(message, fraction))
        reports.add(task)
        task.add_done_callback(reports.discard)

    def hook(done: int, total: int | None) -> None:
        if cancelled.is_set():
            raise _Cancelled
        loop.call_soon_threadsafe(report, done / total if total else None)

    await progress(message, 0.0)
    account = Account(parameters.connection)
    try:
        await account.use(
            lambda client: work(client, hook), container=parameters.container, blob=blob
        )
    finally:
        cancelled.set()
        await asyncio.gather(*reports)

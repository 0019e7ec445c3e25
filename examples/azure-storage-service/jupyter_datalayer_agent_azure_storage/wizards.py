"""Upload and download again, with a wizard: to compare the two forms. ``/storage`` does not use
them, since a schema form needs fewer requests for the same (docs/performance.md)."""

from __future__ import annotations

import os
from typing import Any

from jupyter_datalayer_agent.services.action import ActionInput

from .account import VARIABLE, Account, blob_problem
from .transfers import Download, Upload


async def _connection(ui: ActionInput) -> str:
    if os.environ.get(VARIABLE):
        return ""
    return await ui.text("connection", "Connection string", secret=True)


class UploadWizard(Upload):
    """The container is picked from those that are there."""

    async def wizard(self, ui: ActionInput) -> Upload.Parameters:
        """See ``Action``."""
        connection = await _connection(ui)
        file = await ui.path("file", "Which file?")
        container = await ui.pick(
            "container", "Which container?", await Account(connection).containers()
        )
        blob: Any = await ui.path(
            "blob", "As which blob?", exists=False, validate=blob_problem, skip_value=None
        )
        return self.Parameters(connection=connection, file=file, container=container, blob=blob)


class DownloadWizard(Download):
    """The container is picked from those that are there, then the blob from the container's."""

    async def wizard(self, ui: ActionInput) -> Download.Parameters:
        """See ``Action``."""
        connection = await _connection(ui)
        account = Account(connection)
        container = await ui.pick("container", "Which container?", await account.containers())
        blobs = await account.blobs(container)
        blob = (
            await ui.pick("blob", "Which blob?", blobs)
            if blobs is not None
            else await ui.text("blob", "Which blob?", validate=blob_problem)
        )
        to: Any = await ui.path("to", "To which file?", exists=False, skip_value=None)
        return self.Parameters(connection=connection, container=container, blob=blob, to=to)

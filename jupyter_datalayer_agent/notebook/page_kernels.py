"""One kernel for a notebook: that of the server's session, on which every page shows it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Any

from ..protocol.cells import PageNotebook
from ..protocol.page import KernelParams, OpenNotebook
from .document import DocumentError
from .kernel.kernels import Kernels
from .page import NotOpen, Page, PageGone, PageHub

log = logging.getLogger(__name__)

# A page that has just opened a notebook starts its kernel itself.
STARTS_SECONDS = 30.0
LOOK_EVERY = 0.05
JOIN_SECONDS = 15.0
INITIALIZING = "initializing"


class PageKernels:
    """Finds or starts the kernel of a notebook, and brings the pages that show it to that kernel.

    A page has none after the server was restarted, or where the user chose none; JupyterLab looks
    for the notebook's kernel only when it opens it.
    """

    def __init__(self, pages: PageHub, kernels: Kernels) -> None:
        self._pages = pages
        self._kernels = kernels

    async def kernel_for(self, path: str, metadata: Mapping[str, Any]) -> str:
        """The id of the notebook's kernel, started if it has none; its pages have it, too.

        Raises ``DocumentError``.
        """
        await self._begun(path)
        kernel_id = await self._kernels.kernel_for(path, dict(metadata))
        await self.join(path, kernel_id)
        return kernel_id

    async def _begun(self, path: str) -> None:
        """Wait for a kernel that a page is about to start."""
        deadline = time.monotonic() + STARTS_SECONDS
        while any(shown.kernel_status == INITIALIZING for _, shown in self._showing(path)):
            if time.monotonic() > deadline:
                return
            await asyncio.sleep(LOOK_EVERY)

    async def join(self, path: str, kernel_id: str) -> None:
        """Bring every page that shows the notebook to its kernel."""
        others = [page for page, shown in self._showing(path) if shown.kernel_id != kernel_id]
        await asyncio.gather(*(self._bring(page, path, kernel_id) for page in others))

    async def _bring(self, page: Page, path: str, kernel_id: str) -> None:
        params = KernelParams(path=path, kernel_id=kernel_id)
        try:
            await page.request("notebook.selectKernel", params, timeout=JOIN_SECONDS)
        except (NotOpen, PageGone):
            return
        except DocumentError as error:
            # What runs does so in the notebook's kernel; another page is no reason not to.
            log.warning("a page does not show the kernel of %s: %s", path, error)

    def _showing(self, path: str) -> list[tuple[Page, OpenNotebook]]:
        shown = [(page, page.notebook(path)) for page in self._pages if page.connected]
        return [(page, notebook) for page, notebook in shown if notebook is not None]

    async def existing(self, notebook: PageNotebook) -> PageNotebook:
        """The notebook as a page reports it, with the kernel that it really has: a page that lost
        the server goes on showing the one it had, and may not show one that was started since."""
        if notebook.kernel_id is not None and notebook.kernel_id in self._kernels.manager:
            return notebook
        kernel = await self._kernels.of(notebook.path)
        if kernel is None and notebook.kernel_id is None:
            return notebook
        kernel = kernel or {}
        return notebook.model_copy(
            update={
                "kernel_id": kernel.get("id"),
                "kernel_name": kernel.get("name", notebook.kernel_name),
                "kernel_language": kernel.get("language") or notebook.kernel_language,
                "kernel_status": kernel.get("status"),
            }
        )

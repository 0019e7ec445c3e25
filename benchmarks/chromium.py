"""The Chromium that pages are measured in."""

from __future__ import annotations

import os
import shutil

# As labextension/ui-tests/chromium.ts looks for it. `make tests-ready` installs the first where
# there is none.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str:
    """The machine's, or ``""`` for the one that Playwright downloaded; ``DATALAYER_AGENT_CHROMIUM``
    names another one."""
    chosen = os.environ.get("DATALAYER_AGENT_CHROMIUM")
    return chosen or next(filter(None, map(shutil.which, NAMES)), "")

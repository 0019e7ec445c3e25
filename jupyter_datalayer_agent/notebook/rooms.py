"""Rooms of jupyter-collaboration: documents that people edit together.

While a document is open in a room, the room has its content and saves it by itself. Whatever is
written to the file meanwhile replaces what they typed since the last save.
"""

from __future__ import annotations

import os
from typing import Any

from .document import DocumentError

EXTENSION = "jupyter_server_ydoc"


class Rooms:
    """The rooms that are open in this server; none where the extension is not installed."""

    def __init__(self, server: Any = None) -> None:
        self._server = server

    def check(self, path: str) -> None:
        """Raise ``DocumentError`` while the document at a path is open in a room: its file may not
        be written then."""
        if not self._is_open(path):
            return
        raise DocumentError(
            "not_allowed",
            f"{path} is open in a collaborative session, and no connected page with the agent "
            "shows it. Writing its file would replace what people type there.",
            "Ask the user to open it in JupyterLab, where the agent works in it as they do, or to "
            "close it everywhere. Then call again.",
        )

    def _is_open(self, path: str) -> bool:
        if self._server is None:
            return False
        apps = self._server.extension_manager.extension_apps.get(EXTENSION)
        if not apps:
            return False
        files = self._server.web_app.settings.get("file_id_manager")
        for app in apps:
            server = getattr(app, "ywebsocket_server", None)
            for room_id, room in list(server.rooms.items() if server is not None else ()):
                # "json:notebook:<id of the file>"; other rooms are no documents.
                _, _, file_id = [*room_id.split(":", 2), "", ""][:3]
                known = files.get_path(file_id) if file_id and files is not None else None
                if known is not None and self._same(known, path) and _has_unsaved(room):
                    return True
        return False

    def _same(self, one: str, other: str) -> bool:
        one, other = one.strip("/"), other.strip("/")
        if one == other:
            return True
        # A link leads to the same file.
        root = getattr(self._server.contents_manager, "root_dir", None)
        if root is None:
            return False
        return os.path.realpath(os.path.join(root, one)) == os.path.realpath(
            os.path.join(root, other)
        )


def _has_unsaved(room: Any) -> bool:
    """Whether somebody is in the room, or its last change is not in the file yet. An empty room is
    kept for a minute, and follows its file."""
    if room.clients:
        return True
    saving = getattr(room, "_saving_document", None)
    document = getattr(room, "_document", None)
    return bool(saving is not None and not saving.done()) or bool(getattr(document, "dirty", False))

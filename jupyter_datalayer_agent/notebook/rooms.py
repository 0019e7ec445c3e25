"""Rooms: documents that people edit together, by jupyter-collaboration or jupyter-server-documents.

While a document is open in a room, the room has its content and saves it by itself. Whatever is
written to the file meanwhile replaces what they typed since the last save.
"""

from __future__ import annotations

import os
from typing import Any

from .document import DocumentError

YDOC = "jupyter_server_ydoc"
"""The server extension of jupyter-collaboration, whose application has the rooms."""
ROOM_MANAGER = "yroom_manager"
"""The setting in which jupyter-server-documents, of Jupyter AI, has its own."""


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
        files = self._server.web_app.settings.get("file_id_manager")
        for room_id, room in self._all():
            # "json:notebook:<id of the file>"; other rooms are no documents.
            _, _, file_id = [*room_id.split(":", 2), "", ""][:3]
            known = files.get_path(file_id) if file_id and files is not None else None
            if known is not None and self._same(known, path) and _is_in_use(room):
                return True
        return False

    def _all(self) -> list[tuple[str, Any]]:
        """Every room with its id, which both extensions make alike."""
        rooms: list[tuple[str, Any]] = []
        for app in self._server.extension_manager.extension_apps.get(YDOC) or ():
            server = getattr(app, "ywebsocket_server", None)
            rooms += list(server.rooms.items()) if server is not None else []
        manager = self._server.web_app.settings.get(ROOM_MANAGER)
        if manager is not None:
            rooms += [(room.room_id, room) for room in manager.list_document_rooms()]
        return rooms

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


def _is_in_use(room: Any) -> bool:
    """Whether somebody is in the room, or its last change is not in the file yet. An empty room is
    kept for a while, and follows its file."""
    file = getattr(room, "file_api", None)
    if file is not None:
        return not room.empty or bool(file.has_unsaved_changes)
    if room.clients:
        return True
    saving = getattr(room, "_saving_document", None)
    document = getattr(room, "_document", None)
    return bool(saving is not None and not saving.done()) or bool(getattr(document, "dirty", False))

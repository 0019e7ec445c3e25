"""Where a document may be: paths stay inside the server root, links included.

Every path that comes from a model, a page or a program goes through ``resolve_path`` before
anything else sees it. What comes out is an API path: relative to the root, ``/`` between its
parts, no leading or trailing slash.
"""

from __future__ import annotations

import os
import posixpath
import re
from urllib.parse import unquote, urlsplit

from ..opening import is_inside
from .document import DocumentError

# Sets of names, written as one string.


def name_set(names: str) -> frozenset[str]:
    """The names in a string, separated by white space."""
    return frozenset(names.split())


ASK_FOR_PATH = "listFiles shows what there is; where that is not enough, ask the user."

# Page addresses and drives that name a document under the root: everything after them is the path.
_PAGE_PREFIX = re.compile(
    r"^.*?/(?:lab(?:/workspaces/[^/]+)?/tree|doc(?:/workspaces/[^/]+)?/tree|tree|notebooks|edit"
    r"|files|api/contents)/"
)
_DRIVE = re.compile(r"(?:RTC|Default):")
_INSIDE = f"Give a path inside the server's root directory. {ASK_FOR_PATH}"


def resolve_path(path: str, root_dir: str | None) -> str:
    """An API path or ``uri`` as a path relative to ``root_dir``.

    ``root_dir`` is None where contents are not files on this machine: then only the text of the
    path is checked. Raises ``DocumentError`` ``not_allowed`` for what is outside the root, through
    ``..`` or through a link, and ``invalid_arguments`` for what is no path.
    """
    if not path or "\0" in path:
        raise DocumentError("invalid_arguments", "The path is empty or not a path.", _INSIDE)
    relative = posixpath.normpath(_relative(path, root_dir).lstrip("/"))
    if relative == ".":
        return ""
    if relative == ".." or relative.startswith("../"):
        raise _outside(path)
    if root_dir is not None:
        _check_links(path, relative, root_dir)
    return relative


def without_drive(path: str) -> str:
    """The path without the name of a JupyterLab drive that shows the server's files: the paths of
    shared documents and of their sessions begin with ``RTC:``."""
    drive = _DRIVE.match(path)
    return path[drive.end() :] if drive else path


def _relative(path: str, root_dir: str | None) -> str:
    parts = urlsplit(path) if re.match(r"^[A-Za-z][A-Za-z0-9+.-]*://", path) else None
    if parts is None:
        path = without_drive(path)
        return _below_root(path, root_dir) if path.startswith("/") else path
    if parts.scheme == "file":
        target = unquote(parts.path)
        if root_dir is None or (parts.netloc and parts.netloc != "localhost"):
            raise _outside(path)
        below = _below_root(target, root_dir)
        if below == target:
            raise _outside(path)
        return below
    if parts.scheme in ("http", "https"):
        match = _PAGE_PREFIX.match(parts.path)
        if match is None:
            raise DocumentError(
                "invalid_arguments", f"{path} does not name a document of this server.", _INSIDE
            )
        return unquote(parts.path[match.end() :])
    return unquote(posixpath.join(parts.netloc, parts.path.lstrip("/")))


def _below_root(path: str, root_dir: str | None) -> str:
    """An absolute file path relative to the root, or the path itself when it is not below it."""
    if root_dir is None:
        return path
    normal = posixpath.normpath(path.replace(os.sep, "/"))
    for root in {os.path.abspath(root_dir), os.path.realpath(root_dir)}:
        prefix = root.replace(os.sep, "/").rstrip("/") + "/"
        if normal.startswith(prefix):
            return normal[len(prefix) :]
    return path


def _check_links(path: str, relative: str, root: str) -> None:
    # realpath follows every link on the way, and keeps the rest where the target does not exist.
    try:
        real = os.path.realpath(os.path.join(root, relative))
    except (OSError, ValueError) as error:
        raise DocumentError("invalid_arguments", f"{path} is not a path: {error}") from error
    if not is_inside(real, root):
        raise _outside(path)


def _outside(path: str) -> DocumentError:
    return DocumentError("not_allowed", f"{path} is outside the server's root directory.", _INSIDE)

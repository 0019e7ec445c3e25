"""Text files, as tools and undo use them: where a page has one open, in that page."""

from __future__ import annotations

import copy
import logging
import os
import posixpath
import re
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from jupyter_core.utils import ensure_async

from ...protocol.page import DocumentReadParams, DocumentText, WriteTextParams
from ...secrets_in_text import PRIVATE_KEY
from ..document import DocumentError, gone
from ..page import NotOpen, Page, PageGone, PageHub
from ..renames import Renames, TrackedPath
from .contents import FileContents, encoded
from .kinds import is_lexical, not_text, refuse_other_tools
from .restore import Correct, TextRecorder
from .text_state import BOM, NotText, TextState, text_hash

# Which files hold secrets, by their names and places: keys, tokens, passwords.
#
# Names are compared without regard to case, and so is each directory on the way. A file whose name
# gives nothing away is recognised by a private key at the beginning of a line.


_NAMES = frozenset(
    [
        ".bash_history", ".env", ".envrc", ".git-credentials", ".htpasswd", ".my.cnf", ".netrc",
        ".npmrc", ".pgpass", ".pypirc", ".python_history", ".renviron", ".vault-token", "_netrc",
        "application_default_credentials.json", "credentials.json", "jupyter_cookie_secret",
        "kaggle.json", "kubeconfig", ".mcp.json", "mcp.json", "notebook_secret", "secrets.json",
        "secrets.toml", "secrets.yaml", "secrets.yml",
    ]
)  # fmt: skip
_DIRECTORIES = frozenset([".aws", ".azure", ".gnupg", ".kube", ".ssh"])
_ENDS = (
    ".env", ".jks", ".kdbx", ".key", ".keystore", ".kubeconfig", ".p12", ".pem", ".pfx", ".ppk",
)  # fmt: skip
_PLACES = (
    (".cargo", "credentials.toml"),
    (".config", "gcloud"),
    (".config", "gh"),
    (".config", "rclone"),
    (".docker", "config.json"),
    (".git", "config"),
    (".huggingface", "token"),
    ("huggingface", "token"),
)
_PATTERN = re.compile(
    r"\.env[._-].*"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:[._-].*)?"
    r"|client_secrets?(?:[._-].*)?\.json"
    r"|service[_-]account(?:[._-].*)?\.json"
    r"|(?:jpserver|nbserver)-.*\.(?:json|html)"
    r"|jupyter_\w*config\.(?:py|json)"
)
_HARMLESS = re.compile(r"\.env[._-](?:example|sample|template|dist|defaults?|schema)|id_\w+\.pub")
_PRIVATE_KEY = re.compile(f"^{PRIVATE_KEY}", re.MULTILINE)


def is_secret_name(path: str) -> bool:
    """Whether a file at this path (``/`` between its parts) holds secrets, by its name."""
    *folders, name = [part.lower() for part in PurePosixPath(path).parts] or [""]
    if not _DIRECTORIES.isdisjoint([*folders, name]):
        return True
    if any(_within(place, [*folders, name]) for place in _PLACES):
        return True
    if _HARMLESS.fullmatch(name):
        return False
    return name in _NAMES or name.endswith(_ENDS) or _PATTERN.fullmatch(name) is not None


def _within(place: tuple[str, ...], parts: list[str]) -> bool:
    size = len(place)
    return any(tuple(parts[at : at + size]) == place for at in range(len(parts) - size + 1))


def is_within(real: str, places: Iterable[Path]) -> bool:
    """Whether this real, absolute path is one of the places, or below one."""
    path = Path(real)
    return any(path == place or place in path.parents for place in places)


def jupyter_places() -> list[Path]:
    """Where Jupyter and the agent keep secrets: tokens of running servers and keys of kernels,
    conversations, keys of model providers."""
    from jupyter_core.paths import jupyter_data_dir, jupyter_runtime_dir

    return [
        Path(os.path.realpath(jupyter_runtime_dir())),
        Path(os.path.realpath(jupyter_data_dir())) / "datalayer-agent",
    ]


def holds_private_key(content: str) -> bool:
    """Whether the text has a private key in it."""
    return "PRIVATE KEY" in content and _PRIVATE_KEY.search(content) is not None


log = logging.getLogger(__name__)

MOST_EDITED = 2_000_000
MOST_EDITED_LEXICAL = 10_000_000
"""Characters of a text that is edited or written: its versions before and after are kept. A Lexical
document holds the pictures that its code put out."""
ANSWER_SECONDS = 30.0
_TRIES = 5
STILL = "Read the file again before continuing."


@dataclass(frozen=True)
class FileText:
    """A text file as it was read: in a page, with what is not saved yet, or as it is saved."""

    document: TrackedPath
    state: TextState
    size: int
    page: Page | None = None
    shown: str = ""
    """The text exactly as the page has it."""

    is_unsaved: bool = False
    """Whether the page shows something else than what is saved."""

    reformatted: bool = False
    """Whether a save hook changed what was written."""

    @property
    def path(self) -> str:
        """Where the file is now."""
        return self.document.path

    @property
    def content(self) -> str:
        """The text; lines end in a line feed."""
        return self.state.content


class TextFiles:
    """Reads, writes and creates text files under the server's root.

    ``private_places`` are further files and directories that hold secrets.
    """

    def __init__(
        self,
        contents_manager: Any,
        pages: PageHub,
        renames: Renames,
        *,
        confine: Callable[[str], Awaitable[str]],
        lock: Callable[[str], AbstractAsyncContextManager[None]],
        root_dir: str | None,
        wrote: Callable[[str], None],
        check_writable: Callable[[str], Awaitable[None]],
    ) -> None:
        self.contents = FileContents(contents_manager, renames, wrote, check_writable, root_dir)
        self._renames = renames
        self.private_places: list[Path] = []
        self._pages = pages
        self._confine = confine
        self._lock = lock
        self._root = root_dir
        self._recorder: TextRecorder | None = None

    def recording(self, recorder: TextRecorder) -> TextFiles:
        """The same, with everything that is changed through it recorded before."""
        files = copy.copy(self)
        files._recorder = recorder
        return files

    # Which files

    async def check(self, path: str, attached: Collection[str] = ()) -> str:
        """The path relative to the root. Raises ``DocumentError`` for what is outside it, hidden,
        another tool's, or a secret that is not ``attached``."""
        path = await self._confine(path)
        refuse_other_tools(path)
        if path in attached:
            return path
        if await self.why_closed(path):
            raise secret(path)
        return path

    async def why_closed(self, path: str) -> str | None:
        """Why the model may not have a file or directory of this name: it, or what it links to,
        holds secrets, or is hidden or outside the root. ``path`` is confined already."""
        if is_secret_name(path):
            return "holds secrets"
        if self._root is None:
            return None
        real, inside = _real(self._root, path)
        if inside.startswith("../"):
            return "is outside the root"
        if self.is_private(real):
            return "holds secrets"
        manager = self.contents.manager
        if inside not in (".", path) and not getattr(manager, "allow_hidden", False):
            return "is hidden" if await ensure_async(manager.is_hidden(inside)) else None
        return None

    def is_private(self, real: str) -> bool:
        """Whether the file at this path, without links, holds secrets by its name or its place."""
        name = real if self._root is None else _inside(self._root, real)
        return is_secret_name(name) or is_within(real, self._places)

    def leads_to_secret(self, path: str) -> bool:
        """Whether a confined path is a link to what holds secrets, and its own name does not say
        so: then who chose the name did not choose those."""
        if self._root is None or is_secret_name(path):
            return False
        real, inside = _real(self._root, path)
        return inside != path and self.is_private(real)

    def where(self, path: str) -> str:
        """Where a confined path leads, links followed, relative to the root."""
        return path if self._root is None else _real(self._root, path)[1]

    def leads_to(self, path: str, other: str) -> bool:
        """Whether a confined path is the file ``other``, which may be named in another case, or
        be reached by a link."""
        if self._root is None or path.lower() == other.lower():
            return path.lower() == other.lower()
        return _real(self._root, path)[0] == _real(self._root, other)[0]

    @property
    def _places(self) -> list[Path]:
        return [*jupyter_places(), *self.private_places]

    # Reading

    async def exists(self, path: str) -> bool:
        """Whether there is a file or directory at this confined path."""
        return await self.contents.exists(path)

    async def read(
        self, path: str, client_id: str | None = None, attached: Collection[str] = ()
    ) -> FileText:
        """The file. Raises ``DocumentError``, also for a private key in a file of any name."""
        path = await self.check(path, attached)
        file = await self._read(path, client_id)
        if path not in attached and holds_private_key(file.content):
            raise secret(path)
        return file

    async def read_own(self, path: str) -> FileText:
        """The file, whatever it holds: for its user, not for the model."""
        return await self._read(await self._confine(path), None)

    async def read_document(self, path: str, client_id: str | None = None) -> FileText:
        """A document that tools of its own read and change, as its file. Raises
        ``DocumentError``."""
        path = await self._confine(path)
        if await self.why_closed(path):
            raise secret(path)
        return await self._read(path, client_id)

    async def _read(self, path: str, client_id: str | None) -> FileText:
        document = self._renames.track(path)
        page = self._pages.page_with_file(path, client_id)
        data: bytes | None
        try:
            data = await self.contents.read(path)
        except DocumentError as error:
            if page is None or error.code != "not_found":
                raise
            data = None
        try:
            saved = None if data is None else TextState.of_bytes(data)
        except NotText as error:
            raise not_text(path, len(data or b"")) from error
        shown = None if page is None else await _text_in(page, path, saved)
        if shown is None:
            if saved is None or data is None:
                raise DocumentError("not_found", f"There is no file {path}.")
            return FileText(document, saved, len(data))
        # As the page has it, in the encoding and with the line ends that it is saved with.
        content = shown.removeprefix(BOM)
        is_saved = saved is not None and saved.content == content
        if saved is None:
            state = TextState(shown)
        else:
            state = saved if is_saved else saved.with_content(content)
        return FileText(document, state, len(data or b""), page, shown, not is_saved)

    # Changing; whoever calls these holds the lock, from the read on

    def lock(self, path: str) -> AbstractAsyncContextManager[None]:
        """Held around a read and the change that is based on it."""
        return self._lock(path)

    async def create(self, path: str, content: str) -> FileText:
        """A new file, at this very path, in a directory that exists."""
        path = await self.check(path)
        folder, name = posixpath.split(path)
        if not name:
            raise DocumentError("invalid_arguments", "The new file needs a name.")
        if folder and not await ensure_async(self.contents.manager.dir_exists(folder)):
            raise DocumentError(
                "not_found",
                f"There is no directory {folder}.",
                "Choose one that exists, or make it with code first (os.makedirs).",
            )
        state = TextState(content)
        _check_size(path, state)
        encoded(path, state)
        async with self._recorded(path, None, state) as correct:
            saved = await self.contents.save(path, state)
            if saved is not state:
                await correct(saved)
        return replace(await self._read(path, None), reformatted=saved is not state)

    async def restore(self, path: str, state: TextState) -> FileText:
        """A file that was deleted, as it once was."""
        await self.contents.save(await self._confine(path), state)
        return await self._read(path, None)

    async def write(self, file: FileText, state: TextState) -> FileText:
        """Replace the text that was read, unless it changed since; the file as read back.

        In a page it is one step of the editor's undo, and saved. Raises ``DocumentError``.
        """
        _check_size(file.path, state)
        encoded(file.path, state)
        if not await self.contents.exists(file.path):
            raise gone(file.path)
        async with self._recorded(file.path, file.state, state) as correct:
            for _ in range(_TRIES):
                try:
                    saved = await self._write(file, state)
                    if saved is not state:
                        await correct(saved)
                    client_id = None if file.page is None else file.page.client_id
                    written = await self._read(file.path, client_id)
                    return replace(written, reformatted=saved is not state)
                except NotOpen:
                    # The page closed it in between: what it had not saved is gone.
                    again = await self._read(file.path, None)
                    if again.content != file.content:
                        raise changed(file.path) from None
                    file = again
                except PageGone:
                    again = await self._read(file.path, None)
                    if again.content == state.content:
                        return again
                    if again.content != file.content:
                        raise unsure(file.path) from None
                    file = again
        raise DocumentError(
            "internal", f"{file.path} is being opened and closed repeatedly.", STILL
        )

    async def _write(self, file: FileText, state: TextState) -> TextState:
        """Write it, and read it back; the text as it was saved."""
        page = file.page or self._pages.page_with_file(file.path, None)
        if page is None:
            if self._pages.page_with(file.path) is not None:
                raise shown_as_notebook(file.path)
            before = encoded(file.path, file.state)
            saved = await self.contents.replace(file.document, before, state)
            if saved is None:
                raise changed(file.path)
            return saved
        mark = BOM if file.shown.startswith(BOM) else ""
        base = file.shown if file.page is not None else mark + file.content
        await _write_in(page, file.path, base, mark + state.content)
        formatted = await self.contents.formatted(file.path, state)
        if formatted is None:
            return state
        try:
            await _write_in(page, file.path, mark + state.content, mark + formatted.content)
        except (DocumentError, NotOpen, PageGone) as error:
            # The user types in it already, or closed it: the page keeps what it has.
            log.info("%s is formatted in its file only: %s", file.path, error)
            return state
        return formatted

    def _recorded(
        self, path: str, before: TextState | None, after: TextState
    ) -> AbstractAsyncContextManager[Correct]:
        if self._recorder is None:
            return nullcontext(_keep_nothing)
        return self._recorder.change(path, before, after)


async def _keep_nothing(left: TextState) -> None:
    """In place of a recorder's."""


async def _write_in(page: Page, path: str, base: str, content: str) -> None:
    """Replace ``base`` in a page, which saves it. Raises ``DocumentError``."""
    params = WriteTextParams(path=path, base_hash=text_hash(base), content=content)
    result = await page.request("document.write", params, timeout=ANSWER_SECONDS)
    shown = DocumentText.model_validate(result).content
    if shown is not None and shown.removeprefix(BOM) != content.removeprefix(BOM):
        raise unsure(path)


def _real(root_dir: str, path: str) -> tuple[str, str]:
    """Where a path leads, links followed: absolute, and relative to the root."""
    real = os.path.realpath(os.path.join(root_dir, path))
    return real, _inside(root_dir, real)


def _inside(root_dir: str, real: str) -> str:
    return os.path.relpath(real, os.path.realpath(root_dir)).replace(os.sep, "/")


async def _text_in(page: Page, path: str, saved: TextState | None) -> str | None:
    """The text of the file in the page; None where that does not have it open (any more)."""
    # A large text takes the page longer to send than to hash.
    known = None if saved is None else saved.hash
    params = DocumentReadParams(path=path, known_hash=known)
    try:
        result = await page.request("document.read", params, timeout=ANSWER_SECONDS)
    except (NotOpen, PageGone):
        return None
    except DocumentError as error:
        if error.code == "invalid_arguments":
            return None  # it is shown there, but not as text
        raise
    shown = DocumentText.model_validate(result).content
    return saved.content if shown is None and saved is not None else shown


def _check_size(path: str, state: TextState) -> None:
    most = MOST_EDITED_LEXICAL if is_lexical(path) else MOST_EDITED
    if len(state.raw) > most:
        raise DocumentError(
            "too_large",
            f"{path} would have {len(state.raw):,} characters; at most {most:,} are edited.",
            "Change it with code.",
        )


def changed(path: str) -> DocumentError:
    """The file is not as it was when the change was thought of."""
    return DocumentError("stale", f"{path} changed in the meantime; nothing was changed.", STILL)


def unsure(path: str) -> DocumentError:
    """It was written, or may have been, and is now as neither the change nor the file before."""
    return DocumentError(
        "internal", f"{path} is not as it was written when it was read back.", STILL
    )


def shown_as_notebook(path: str) -> DocumentError:
    """A page has the file open as a notebook, and would overwrite what is written to it."""
    return DocumentError(
        "not_allowed",
        f"{path} is open as a notebook: its file is not written meanwhile.",
        "Use the notebook tools on it, attached and active. Or ask the user to close it.",
    )


def secret(path: str) -> DocumentError:
    """The refusal of a file that holds secrets."""
    return DocumentError(
        "not_allowed",
        f"{path} holds secrets (keys, tokens or passwords): you have no access to it.",
        "Continue without it, and do not read it in another way. You have access only if the user "
        "attaches this file to the message.",
    )

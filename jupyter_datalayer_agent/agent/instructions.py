"""The instructions of a folder: ``AGENTS.md`` in the server root.

The file may have come with a repository, and is sent as if the user had written it. So it is sent
only once the user has allowed its content, as with the ``mcp.json`` beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..notebook.files.text_files import TextFiles
from ..opening import NotRead, opened
from ..protocol.events import Warning_
from ..protocol.tools import FolderFileDecision, FolderInstructions, InstructionsReply
from ..tools.mcp.state_file import FolderFile, StateFile

NAME = "AGENTS.md"
MOST_CHARACTERS = 20_000
_MOST_BYTES = 4 * MOST_CHARACTERS
NOT_SENT = "instructions_not_sent"


@dataclass(frozen=True)
class Found:
    """The file in its current state. ``text`` is what may be sent and what the user is shown;
    ``problem``: why it is not read."""

    path: Path
    text: str = ""
    file: FolderFile | None = None
    problem: str | None = None


class Instructions:
    """Reads the file, and records what the user decided about it. ``root_dir`` is None if the
    server's files are not on this machine."""

    def __init__(self, root_dir: str | None, files: TextFiles, state: StateFile) -> None:
        self._root = root_dir
        self._files = files
        self._state = state

    def allowed(self) -> str | None:
        """The text that is sent to the model, if the user has allowed it."""
        found = self._now()
        return found.text if found and found.file and found.file.is_allowed else None

    def warning(self) -> Warning_ | None:
        """Why existing instructions are not sent; None if that is the user's decision."""
        found = self._now()
        if found is None:
            return None
        if found.file is None:
            return Warning_(code=NOT_SENT, message=f"{NAME} was not read: {found.problem}.")
        if found.file.is_allowed or found.file.is_declined:
            return None
        why = (
            "has changed since you allowed it"
            if found.file.was_allowed
            else "came with this folder, and has not been allowed yet"
        )
        message = f"{NAME} was not sent to the model: it {why}. Read and allow it in the panel."
        return Warning_(code=NOT_SENT, message=message)

    def reply(self) -> InstructionsReply:
        """The file for the page."""
        found = self._now()
        if found is None:
            return InstructionsReply()
        if found.file is None:
            return InstructionsReply(problem=f"{found.path} was not read: {found.problem}.")
        return InstructionsReply(
            file=FolderInstructions(
                path=str(found.path),
                content_hash=found.file.content_hash,
                text=found.text,
                allowed=found.file.is_allowed,
                has_changed=found.file.was_allowed,
                declined=found.file.is_declined,
            )
        )

    def decide(self, decision: FolderFileDecision) -> InstructionsReply:
        """Record the user's decision on the file as it was shown. Raises ``AgentError``."""
        found = self._now()
        self._state.decide(
            None if found is None else found.file, NAME, decision.content_hash, decision.allowed
        )
        return self.reply()

    def _now(self) -> Found | None:
        """The file, if there is one with any text."""
        if self._root is None:
            return None
        path = Path(self._root, NAME)
        try:
            with opened(path, self._root) as file:
                if self._files.is_private(file.real):
                    raise NotRead("is a link to a file that holds secrets")
                data, size = file.read(_MOST_BYTES), file.status.st_size
        except FileNotFoundError:
            return None
        except NotRead as error:
            return Found(path, problem=f"it {error.strerror}")
        except OSError as error:
            return Found(path, problem=error.strerror or "it cannot be read")
        text = data.decode("utf-8", "replace").strip()
        if not text:
            return None
        if size > len(data) or len(text) > MOST_CHARACTERS:
            text = (
                f"{text[:MOST_CHARACTERS].rstrip()}\n"
                f"[The rest of {NAME} is left out: of {size:,} bytes, "
                f"{MOST_CHARACTERS:,} characters are sent.]"
            )
        return Found(path, text, self._state.folder_file(path, text.encode()))

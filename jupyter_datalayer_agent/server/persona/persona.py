"""The persona that Jupyter AI loads through the entry point ``jupyter_ai.personas``.

The rest of the agent is imported when a chat first needs it, so that a chat which is only opened
costs nothing.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_ai_persona_manager import BasePersona, PersonaDefaults, PersonaRequirementsUnmet
from jupyter_server.auth import AllowAllAuthorizer
from jupyter_server.serverapp import ServerApp
from jupyterlab_chat.models import Message, NewMessage

from ...protocol.base import Mode
from ...protocol.context import Attachment
from .conversation import ChatMessage

if not hasattr(BasePersona, "on_message"):
    # Jupyter AI logs this error in one line; it would show any other in each chat.
    raise PersonaRequirementsUnmet(
        "The persona Datalayer needs Jupyter AI 3.2 (jupyter-ai-persona-manager 0.2) or newer."
    )
from jupyter_ai_persona_manager.awareness_models import (
    CommandOption,
    ModelConfiguration,
    ModelOption,
    SettingConfiguration,
    SettingOption,
    Usage,
)

if TYPE_CHECKING:
    from ...protocol.base import Audience
    from ..base.handler import Parts
    from .conversation import Conversation

NAME = "Datalayer"
EXTENSION = "jupyter_datalayer_agent"
SESSION = "datalayer_agent_session"
"""The session's id in the chat's metadata."""
MODE = "mode"
MODES: dict[Mode, tuple[str, str]] = {
    "ask": ("Ask", "Reads and answers; changes nothing"),
    "edit": ("Edit", "Answers with code to copy; changes nothing itself"),
    "agent": ("Agent", "Changes and runs notebooks and files"),
}
_MENTION = re.compile(rf"(?:^|(?<=\s))@{NAME}\b[:,]?[ \t]*", re.IGNORECASE)
NOT_ENABLED = (
    f"The server extension {EXTENSION} is not enabled. Run "
    f"`jupyter server extension enable {EXTENSION}` and restart the server."
)
NOT_PERMITTED = (
    "On this server, an authorizer decides what each user may do, but a Jupyter AI chat does not "
    "reliably say who wrote a message. Use the agent's own panel."
)
EMPTY = "The message is empty. Describe the task."


class DatalayerPersona(BasePersona):
    """One chat's persona."""

    _conversation: Conversation | None = None
    _mode: Mode = "agent"
    _model: str | None = None
    _message: ChatMessage | None = None

    @property
    def defaults(self) -> PersonaDefaults:
        """The persona's name and picture."""
        return PersonaDefaults(
            name=NAME,
            description="Reads, writes and runs notebooks, and says only what happened.",
            avatar_path=str(Path(__file__).with_name("avatar.svg")),
            system_prompt="",
        )

    async def prepare(self) -> None:
        """Show modes, models and commands in the chat's input."""
        parts = self._parts()
        if parts is None:
            return
        await parts.plugins.ready()
        self._report_mode()
        models = parts.models()
        if models.ready:
            ready = [each for each in models.models if each.ready]
            self.report_model_configuration(
                ModelConfiguration(
                    current=models.default,
                    options=[ModelOption(id=each.id, name=each.label) for each in ready],
                )
            )
        services = parts.service_registry()
        self.report_slash_commands(
            [CommandOption(name=f"/{each.id}", description=each.description) for each in services]
        )

    async def update_settings(self, settings: dict[str, str | None]) -> None:
        """Take the mode that the user chose."""
        mode = settings.get(MODE)
        if mode in MODES:
            self._mode = mode

    async def update_model(self, model_id: str) -> None:
        """Take the model that the user chose."""
        self._model = model_id

    async def on_message(self, message: Message) -> None:
        """Take a message. A reply to the running turn's question is handled at once; any other
        message waits for the one before it."""
        conversation = self._conversation
        if conversation is not None and conversation.waits and self._message is not None:
            author = self._name_of(message.sender)
            await conversation.answer(_body(message), author, self._message)
            return
        await super().on_message(message)

    async def process_message(self, message: Message) -> None:
        """Carry out a message as a turn."""
        reader = self._message = ChatMessage(self, Message, NewMessage)
        try:
            refused = self._refusal()
            text = _body(message)
            conversation = self._of_chat()
            if refused is not None or conversation is None:
                reader.write(refused or NOT_ENABLED)
            elif not text:
                reader.write(EMPTY)
            else:
                reader.status("is thinking")
                await conversation.send(
                    text,
                    reader,
                    mode=self._mode,
                    model=self._model,
                    attachments=self._attachments(message),
                    author=self._author(message.sender),
                    audience=self._audience(),
                )
                self._report_used(conversation.usage)
        finally:
            reader.flush()
            reader.status("")
            self._message = None

    async def cancel_response(self) -> None:
        """Stop the running turn."""
        if self._conversation is not None:
            await self._conversation.interrupt()

    # -- the chat --------------------------------------------------------------------------------

    def _of_chat(self) -> Conversation | None:
        if self._conversation is None and (parts := self._parts()) is not None:
            from .conversation import Conversation

            self._conversation = Conversation(
                parts,
                self.chat.get_metadata().get(SESSION),
                lambda session_id: self.chat.set_metadata(SESSION, session_id),
            )
        return self._conversation

    def _attachments(self, message: Message) -> list[Attachment]:
        known = self.chat.get_attachments()
        found = []
        for attached in (known.get(each) for each in message.attachments or ()):
            if attached is None:
                continue
            cells = getattr(attached, "cells", None)
            if cells:
                found += [
                    Attachment(kind="cell", path=attached.value, cell_id=cell.id) for cell in cells
                ]
            elif attached.type == "notebook" or attached.value.endswith(".ipynb"):
                found.append(Attachment(kind="notebook", path=attached.value))
            else:
                found.append(Attachment(kind="file", path=attached.value))
        return found

    def _audience(self) -> Audience:
        """A chat without a file is a single request of a program: nobody reads what is asked."""
        return "page" if os.path.exists(self.get_chat_path()) else "none"

    def _author(self, sender: str) -> str | None:
        """The author's name, where the chat has several people."""
        people = [each for each in self.chat.get_users().values() if not each.bot]
        return self._name_of(sender) if len(people) > 1 else None

    def _name_of(self, sender: str) -> str:
        user = self.chat.get_users().get(sender)
        return str(user.display_name or user.name or sender) if user is not None else sender

    # -- the server ------------------------------------------------------------------------------

    def _server(self) -> Any:
        # The chat of a single request belongs to no extension.
        extension = getattr(self.parent, "parent", None)
        return extension.serverapp if extension is not None else ServerApp.instance()

    def _parts(self) -> Parts | None:
        apps = self._server().extension_manager.extension_apps.get(EXTENSION, ())
        app = next(iter(apps), None)
        return app.parts() if app is not None else None

    def _refusal(self) -> str | None:
        """Why this server's chats may not use the agent, if they may not."""
        return None if type(self._server().authorizer) is AllowAllAuthorizer else NOT_PERMITTED

    # -- what the input shows --------------------------------------------------------------------

    def _report_mode(self) -> None:
        options = [
            SettingOption(id=mode, name=name, description=description)
            for mode, (name, description) in MODES.items()
        ]
        self.report_settings_configuration(
            [SettingConfiguration(id=MODE, name="Mode", current=self._mode, options=options)]
        )

    def _report_used(self, usage: dict[str, Any]) -> None:
        if usage:
            self.report_usage(
                Usage(
                    total_tokens=usage["sessionTokens"],
                    cost_amount=usage.get("sessionCost"),
                    cost_currency="USD" if usage.get("sessionCost") is not None else None,
                )
            )


def _body(message: Message) -> str:
    """The message's text without the persona's name."""
    return _MENTION.sub("", message.body).strip()

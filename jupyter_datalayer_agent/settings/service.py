"""``GET`` and ``PATCH config``: the settings as they may be shown, and the user's changes."""

from __future__ import annotations

from typing import Any

from ..protocol.errors import AgentError, ErrorCode
from ..protocol.requests import ConfigReply, ConfigValue, SessionSettings
from .layers import Layers, Setting, SettingRefused
from .masking import MASK, masked
from .policies import loosened
from .turn_settings import in_session
from .user_layer import snake


class ConfigService:
    """The settings of one server, for the routes that show and change them."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers

    def reply(self, session: SessionSettings | None = None) -> ConfigReply:
        """Every setting; with a session, its effective values there. Contains no secret."""
        chosen = {} if session is None else in_session(session)
        return ConfigReply(
            values=[
                _shown(each, chosen.get(each.name)) for each in self._layers.settings().values()
            ]
        )

    def loosened(self, values: dict[str, Any]) -> dict[str, Any]:
        """Those of these values that protect the user less than what holds now."""
        now = self._layers.settings()
        given = {snake(name): value for name, value in values.items()}
        before = {name: each.value for name, each in now.items()}
        after = {
            name: now[name].inherited if value is None else value
            for name, value in given.items()
            if name in now and now[name].editable  # others are refused, whoever asks
        }
        return loosened(before, after)

    def change(self, values: dict[str, Any]) -> ConfigReply:
        """Change the user's settings. Raises ``AgentError`` that names the setting."""
        if any(isinstance(value, str) and MASK in value for value in values.values()):
            raise AgentError("invalid_request", f"{MASK} is a masked value. Enter the full value.")
        try:
            self._layers.change(values)
        except SettingRefused as error:
            code: ErrorCode = "forbidden" if error.forbidden else "invalid_request"
            raise AgentError(code, str(masked(str(error)))) from error
        except OSError as error:
            raise AgentError("internal", f"The settings cannot be written: {error}") from error
        return self.reply()


def _shown(setting: Setting, in_session: Any) -> ConfigValue:
    of_session = in_session is not None and not setting.locked
    return ConfigValue(
        name=setting.name,
        value=masked(in_session if of_session else setting.value),
        source="session" if of_session else setting.source,
        locked=setting.locked,
        editable=setting.editable,
        inherited=masked(setting.inherited),
        description=setting.description,
        unconfirmed=masked(setting.unconfirmed),
    )

"""The merged layers: effective values, their sources, and what a user may change."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from traitlets import TraitError, TraitType

from ..protocol.errors import AgentError, ErrorCode
from ..protocol.requests import ConfigReply, ConfigValue, SessionSettings
from .definitions import AgentTraits, is_for_server, setting_traits
from .startup_layers import MASK, masked
from .turn_settings import PROTECTED, Settings, in_session, is_looser, loosened

# The user's layer: their settings in JupyterLab, in the file that JupyterLab itself keeps.
#
# The settings editor and ``PATCH config`` write the same file, so there is one place to look. It is
# read again when it has changed, which costs a ``stat`` a time.


log = logging.getLogger(__name__)

PLUGIN = "jupyter-datalayer-agent:settings"
"""Id of the plugin of the labextension whose settings these are."""


def settings_file(directory: str | None = None) -> Path:
    """Where JupyterLab keeps the settings of the plugin; ``directory`` is its user settings."""
    from jupyter_core.paths import jupyter_config_dir

    root = directory or os.environ.get("JUPYTERLAB_SETTINGS_DIR")
    folder = Path(root) if root else Path(jupyter_config_dir(), "lab", "user-settings")
    package, _, plugin = PLUGIN.partition(":")
    return folder / package / f"{plugin}.jupyterlab-settings"


Stamp = tuple[int, int, int]
"""What a version of the file is known by: its inode, time of change in ns, and size in bytes."""


class UserSettings:
    """The values in the file, by the names of the traits."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._stamp: Stamp | None = None
        self._values: dict[str, Any] = {}

    def values(self) -> dict[str, Any]:
        """All that is set, valid or not; empty where the file is missing or cannot be read."""
        try:
            stat = self.file.stat()
            stamp = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            if stamp != self._stamp:
                self._stamp, self._values = stamp, {}
                self._values = _read(self.file)
        except FileNotFoundError:
            self._stamp, self._values = None, {}
        except (OSError, ValueError) as error:
            log.error("%s cannot be read, and is not used: %s", self.file, error)
        return self._values

    @property
    def stamp(self) -> Stamp | None:
        """Differs when the file has changed since the last ``values``."""
        return self._stamp

    def write(self, changes: dict[str, Any]) -> None:
        """Set values, or with None take them out; the rest of the file is unchanged.

        Raises ``OSError``, also for a file that holds something which cannot be read.
        """
        try:
            found = _read(self.file) if self.file.exists() else {}
        except ValueError as error:
            raise OSError(f"{self.file} holds something else: {error}") from error
        kept = {**found, **changes}
        text = json.dumps(
            {camel(name): value for name, value in kept.items() if value is not None},
            ensure_ascii=False,
            indent=2,
        )
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.replace(self.file)


def _read(file: Path) -> dict[str, Any]:
    text = file.read_text(encoding="utf-8")
    try:
        found = json.loads(text or "{}")
    except ValueError:
        import json5  # what JupyterLab writes when the user edits the text: with comments

        found = json5.loads(text)
    if not isinstance(found, dict):
        raise ValueError("it holds no object")
    return {snake(name): value for name, value in found.items()}


def snake(name: str) -> str:
    """``maxToolCalls`` as ``max_tool_calls``; a name in snake case stays."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda part: f"_{part[1].lower()}", name)


def camel(name: str) -> str:
    """``max_tool_calls`` as ``maxToolCalls``."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


Source = Literal["default", "environment", "config", "user", "session"]
RANK: dict[Source, int] = {"default": 0, "environment": 1, "config": 2, "user": 3, "session": 4}


class SettingRefused(Exception):
    """A setting that cannot be changed here, or a value that is not valid: says which and why."""

    def __init__(self, message: str, *, forbidden: bool = False) -> None:
        super().__init__(message)
        self.forbidden = forbidden


@dataclass(frozen=True)
class Setting:
    """A setting's effective value. ``inherited`` applies without the user's own value;
    ``editable`` says whether a user may change it, ``unconfirmed`` is what the user's file has in
    its place."""

    name: str
    value: Any
    source: Source
    locked: bool
    editable: bool
    inherited: Any
    description: str
    unconfirmed: Any = None


@dataclass(frozen=True)
class _Resolved:
    """All that follows from one version of the user's file and from the traits."""

    stamp: Stamp | None
    settings: Mapping[str, Setting]
    locked: frozenset[str]

    @cached_property
    def values(self) -> Mapping[str, Any]:
        values = {name: each.value for name, each in self.settings.items()}
        model, by_mode = self.settings["model"], self.settings["mode_models"]
        if RANK[model.source] > RANK[by_mode.source] and not by_mode.locked:
            # The user's model overrides one that a lower layer has for a mode.
            values["mode_models"] = {}
        return values

    @cached_property
    def for_turns(self) -> Settings:
        names = Settings.model_fields.keys() & self.values.keys() - {"locked"}
        return Settings(**{name: self.values[name] for name in names}, locked=self.locked)


class Layers:
    """Default, environment, configuration (all in the owner's traits) and the user's file.

    Whatever runs as the user can write that file, code in a kernel too. So what protects the user
    less than before counts once it came by ``change``; until then it is ``unconfirmed``.
    """

    def __init__(
        self,
        owner: AgentTraits,
        user: UserSettings,
        *,
        environment: set[str],
        configured: set[str],
    ) -> None:
        self._owner = owner
        self._user = user
        self._traits = setting_traits(owner)
        self._environment = environment
        self._configured = configured
        self._logged: Stamp | None = None
        self._confirmed: dict[str, Any] = {}
        self._unconfirmed: dict[str, Any] = {}
        self._known: _Resolved | None = None
        owner.observe(self._forget)
        unknown = sorted(set(owner.locked) - self._traits.keys())
        if unknown:
            log.error("No such setting to be locked: %s", ", ".join(unknown))

    @property
    def locked(self) -> frozenset[str]:
        """The names that an administrator locked. With ``model``, the models of the modes."""
        names = frozenset(self._owner.locked)
        return names | {"mode_models"} if "model" in names else names

    def values(self) -> Mapping[str, Any]:
        """The effective value of every setting."""
        return self._resolved().values

    def settings(self) -> Mapping[str, Setting]:
        """Every setting with where its value comes from."""
        return self._resolved().settings

    def for_turns(self) -> Settings:
        """The server's settings for turns."""
        return self._resolved().for_turns

    def _resolved(self) -> _Resolved:
        """Resolve the settings again if the user's file or a trait has changed."""
        given = self._user.values()
        stamp = self._user.stamp
        if self._known is None or self._known.stamp != stamp:
            own, locked = self._user_values(given), self.locked
            found = {name: self._setting(name, own, locked) for name in self._traits}
            self._known = _Resolved(stamp, found, locked)
        return self._known

    def _forget(self, _: object = None) -> None:
        self._known = None

    def change(self, values: Mapping[str, Any]) -> None:
        """Set values of the user's, all or none; None takes one out.

        Raises ``SettingRefused``.
        """
        changes = {}
        for given, value in values.items():
            name = snake(given)
            trait = self._traits.get(name)
            if trait is None:
                raise SettingRefused(f"There is no setting {given!r}.")
            self._check_changeable(name, trait)
            if value is not None:
                value = self._valid(name, trait, value)
            changes[name] = value
        self._user.write(changes)
        for name in changes.keys() & set(PROTECTED):
            self._confirmed.pop(name, None)
        self._forget()

    def _check_changeable(self, name: str, trait: TraitType[Any, Any]) -> None:
        if name in self.locked:
            raise SettingRefused(
                f"{name} is locked by the administrator of this server.", forbidden=True
            )
        if is_for_server(name, trait):
            raise SettingRefused(
                f"{name} is set for the whole server, in Jupyter's configuration or by "
                f"DATALAYER_AGENT_{name.upper()}.",
                forbidden=True,
            )

    def _valid(self, name: str, trait: TraitType[Any, Any], value: Any) -> Any:
        try:
            return trait._validate(self._owner, value)
        except (TraitError, ValueError) as error:
            raise SettingRefused(f"{name} cannot be {value!r}: {error}") from error

    def _user_values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The user's values that count; one that does not is logged once for each version of the
        file."""
        is_new = self._user.stamp != self._logged
        self._logged = self._user.stamp
        valid = {}
        for name, value in given.items():
            trait = self._traits.get(name)
            try:
                if trait is None:
                    raise SettingRefused(f"There is no setting {name!r}.")
                self._check_changeable(name, trait)
                if value is not None:
                    valid[name] = self._valid(name, trait, value)
            except SettingRefused as error:
                if is_new:
                    log.warning("%s: not used. %s", self._user.file, error)
        return self._as_confirmed(valid, is_new)

    def _as_confirmed(self, own: dict[str, Any], is_new: bool) -> dict[str, Any]:
        """The user's values without those that protect them less and that nobody confirmed."""
        self._unconfirmed = {}
        for name in PROTECTED:
            inherited = getattr(self._owner, name)
            value = own.get(name, inherited)
            confirmed = self._confirmed.setdefault(name, value)
            if not is_looser(name, confirmed, value):
                self._confirmed[name] = value
                continue
            self._unconfirmed[name] = value
            own.pop(name, None)
            if confirmed != inherited:
                own[name] = confirmed
            if is_new:
                log.warning("%s: %s waits to be confirmed in JupyterLab", self._user.file, name)
        return own

    def _setting(self, name: str, own: Mapping[str, Any], locked: frozenset[str]) -> Setting:
        trait = self._traits[name]
        inherited = getattr(self._owner, name)
        if name == "log_level":
            inherited = logging.getLevelName(inherited)
        source: Source = "default"
        if name in self._environment:
            source = "environment"
        elif name in self._configured:
            source = "config"
        return Setting(
            name=name,
            value=own.get(name, inherited),
            source="user" if name in own else source,
            locked=name in locked,
            editable=name not in locked and not is_for_server(name, trait),
            inherited=inherited,
            description=" ".join((trait.help or "").split()),
            unconfirmed=self._unconfirmed.get(name),
        )


# ``GET`` and ``PATCH config``: the settings as they may be shown, and the user's changes.


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

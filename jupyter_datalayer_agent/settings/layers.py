"""The merged layers: effective values, their sources, and what a user may change."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from traitlets import TraitError, TraitType

from .definitions import AgentTraits, is_for_server, setting_traits
from .user_layer import UserSettings, snake

log = logging.getLogger(__name__)

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
    ``editable`` says whether a user may change it."""

    name: str
    value: Any
    source: Source
    locked: bool
    editable: bool
    inherited: Any
    description: str


class Layers:
    """Default, environment, configuration (all in the owner's traits) and the user's file."""

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
        self._logged: tuple[int, int] | None = None
        unknown = sorted(set(owner.locked) - self._traits.keys())
        if unknown:
            log.error("No such setting to be locked: %s", ", ".join(unknown))

    @property
    def locked(self) -> frozenset[str]:
        """The names that an administrator locked. With ``model``, the models of the modes."""
        names = frozenset(self._owner.locked)
        return names | {"mode_models"} if "model" in names else names

    def values(self) -> dict[str, Any]:
        """The effective value of every setting."""
        found = self.settings()
        values = {name: each.value for name, each in found.items()}
        model, by_mode = found["model"], found["mode_models"]
        if RANK[model.source] > RANK[by_mode.source] and not by_mode.locked:
            # The user's model overrides one that a lower layer has for a mode.
            values["mode_models"] = {}
        return values

    def settings(self) -> dict[str, Setting]:
        """Every setting with where its value comes from."""
        own = self._user_values()
        locked = self.locked
        return {name: self._setting(name, own, locked) for name in self._traits}

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

    def _user_values(self) -> dict[str, Any]:
        """The user's values that count; one that does not is logged once for each version of the
        file."""
        given = self._user.values()
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
        return valid

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
        )

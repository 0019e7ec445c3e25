"""The merged layers: effective values, their sources, and what a user may change."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from traitlets import TraitError, TraitType

from .definitions import AgentTraits, is_for_server, setting_traits
from .policies import PROTECTED, is_looser
from .user_layer import Stamp, UserSettings, snake

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
        self._resolved: tuple[Stamp | None, dict[str, Setting]] | None = None
        owner.observe(self._forget)
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

    def settings(self) -> Mapping[str, Setting]:
        """Every setting with where its value comes from; resolved again when the user's file or a
        trait has changed."""
        given = self._user.values()
        stamp = self._user.stamp
        if self._resolved is None or self._resolved[0] != stamp:
            own, locked = self._user_values(given), self.locked
            found = {name: self._setting(name, own, locked) for name in self._traits}
            self._resolved = (stamp, found)
        return self._resolved[1]

    def _forget(self, _: object = None) -> None:
        self._resolved = None

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

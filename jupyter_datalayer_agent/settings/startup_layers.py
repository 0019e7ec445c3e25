"""The two layers that are read at the server's start: the environment and Jupyter's configuration.

A value that is not valid is logged, and the layer below applies.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from traitlets import TraitError, TraitType, Unicode
from traitlets.config import Config, Configurable
from traitlets.config.loader import DeferredConfig, LazyConfigValue

from ..secrets_in_text import without_keys, without_query_values, without_user_info

# Values of settings as they may be shown: without what an address may hold of secrets.


MASK = "***"


def masked(value: Any) -> Any:
    """The value; in texts, user names, passwords and query values of URLs, and keys, as ``***``."""
    if isinstance(value, str):
        if "://" in value:
            value = without_query_values(without_user_info(value, f"{MASK}@"), MASK)
        return without_keys(value, MASK)
    if isinstance(value, dict):
        return {key: masked(each) for key, each in value.items()}
    if isinstance(value, list):
        return [masked(each) for each in value]
    return value


PREFIX = "DATALAYER_AGENT_"
Complain = Callable[..., None]
Traits = Mapping[str, TraitType[Any, Any]]


def from_environment(
    owner: Configurable,
    traits: Traits,
    configured: set[str],
    complain: Complain,
    environ: Mapping[str, str] = os.environ,
) -> set[str]:
    """Set the traits that the environment names and the configuration does not; their names."""
    found = set()
    for name, trait in traits.items():
        variable = f"{PREFIX}{name.upper()}"
        if variable not in environ or name in configured:
            continue
        text = environ[variable]
        try:
            setattr(owner, name, _level(text) if name == "log_level" else _read(trait, text))
        except (TraitError, ValueError, SyntaxError) as error:
            complain("%s is not valid and is not used: %s", variable, _reason(error, text))
        else:
            found.add(name)
    return found


def valid_config(owner: Configurable, config: Config, traits: Traits, complain: Complain) -> Config:
    """The configuration without the values of settings that are not valid."""
    kept: Config = config.copy()  # type: ignore[assignment]
    for section in owner.section_names():
        if not config._has_section(section):
            continue
        kept[section] = config[section].copy()
        for name in config[section].keys() & traits.keys():
            value = config[section][name]
            if isinstance(value, LazyConfigValue):
                continue
            try:
                if isinstance(value, DeferredConfig):
                    value = value.get_value(traits[name])
                traits[name]._validate(owner, value)
            except (TraitError, ValueError, SyntaxError) as error:
                complain("c.%s.%s is not valid and is not used: %s", section, name,
                         _reason(error, value))  # fmt: skip
                del kept[section][name]
    return kept


def _read(trait: TraitType[Any, Any], text: str) -> Any:
    if trait.default_value is None and text.strip().lower() in ("", "none", "null"):
        return None
    if text.lstrip().startswith(("[", "{")) and not isinstance(trait, Unicode):
        try:
            return json.loads(text)
        except ValueError:
            return ast.literal_eval(text)
    return trait.from_string(text)


def _level(text: str) -> str | int:
    """A level by its number or by its name, as Python's logging has it."""
    name = text.strip().upper()
    return int(name) if name.isdigit() else {"WARNING": "WARN"}.get(name, name)


def _reason(error: Exception, value: Any) -> str:
    """What is wrong, without what a URL may hold."""
    return str(error).replace(str(value), str(masked(value)))

"""Names of packages as users give them, and what is installed in an environment."""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from ...action import ActionFailed
from .programs import must, pip_command


def problem_of(text: str, *, only_name: bool = False) -> str | None:
    """Why this is no package's name, with or without versions (PEP 508); None where it is one."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return f"{text!r} is not the name of a package."
    if requirement.url is not None:
        return f"{text!r} is an address: give the package's name."
    if only_name and str(requirement) != requirement.name:
        return f"Enter only the name: {requirement.name}."
    return None


def problems_of(texts: Sequence[str], *, only_name: bool = False) -> dict[str, str]:
    """The first problem, under the parameter's name ``packages``."""
    for each in texts:
        if (problem := problem_of(each, only_name=only_name)) is not None:
            return {"packages": problem}
    return {}


async def installed(python: str) -> dict[str, str]:
    """The versions of what is installed in the interpreter's environment, by canonical name."""
    done = await must(
        pip_command(python, "list", "--format", "json"), "The packages could not be listed"
    )
    try:
        return {canonicalize_name(e["name"]): str(e["version"]) for e in json.loads(done.output)}
    except (ValueError, KeyError, TypeError) as error:
        raise ActionFailed("The output of pip could not be read.") from error


def needed_by(python: str, names: Iterable[str]) -> dict[str, list[str]]:
    """Which packages of the environment need these. Only files are read, and nothing is run; empty
    where the environment is laid out in another way."""
    wanted = {canonicalize_name(each) for each in names}
    needs: dict[str, list[str]] = {}
    for each in distributions(path=_folders(python)):
        name = each.metadata["Name"]
        if not name or canonicalize_name(name) in wanted:
            continue
        for needed in _needs(each) & wanted:
            needs.setdefault(needed, []).append(name)
    return {name: sorted(set(found), key=str.lower) for name, found in needs.items()}


def _needs(distribution: Distribution) -> set[str]:
    names = set()
    for text in distribution.requires or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            names.add(str(canonicalize_name(requirement.name)))
    return names


def _folders(python: str) -> list[str]:
    if Path(python) == Path(sys.executable):
        return [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    prefix = Path(python).parent.parent
    found = [*prefix.glob("lib*/python3*/site-packages"), *prefix.glob("Lib/site-packages")]
    return [str(each) for each in found]

"""Installs packages into the kernel's environment, and removes them from it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pydantic import BaseModel

from ...action import (
    Action,
    ActionFailed,
    ActionResult,
    ActionStopped,
    Progress,
    parameter,
)
from .packages import installed, needed_by, problems_of
from .programs import INSTALLS, UNINSTALLS, must, pip_command


class Install(Action):
    """Installs packages by uv, or pip where there is none."""

    id = "install"
    title = "Install packages"
    description = "Installs packages into the environment of the notebook's kernel."
    examples = (
        "Install seaborn and polars",
        "pip install scikit-learn",
        "Upgrade the package pandas",
    )

    class Parameters(BaseModel):
        """What is installed."""

        packages: list[str] = parameter(
            title="Packages",
            description="Package names, optionally with versions, such as pandas>=2.",
            kind="packages",
            min_length=1,
            max_length=50,
        )
        upgrade: bool = parameter(False, title="Upgrade installed packages")

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        return problems_of(parameters.packages)

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        python = await self.context.python()
        before = await installed(python)
        upgrade = ["--upgrade"] if parameters.upgrade else []
        await progress(f"Installing {', '.join(parameters.packages)}")
        command = pip_command(python, "install", *upgrade, *parameters.packages)
        try:
            await must(command, "The packages could not be installed", progress, INSTALLS)
        except asyncio.CancelledError as stopped:
            raise ActionStopped(await asyncio.shield(_left(python, before))) from stopped
        after = await installed(python)
        lines = _changed(before, after)
        if not lines:
            return ActionResult(f"Everything is already installed in `{python}`.")
        note = ""
        if any(name in before and before[name] != after[name] for name in after):
            note = "\n\nRestart the kernel where one of them was imported before."
        return ActionResult(f"Installed in `{python}`:\n\n" + "\n".join(lines) + note)


class Remove(Action):
    """Removes packages; what they need stays."""

    id = "remove"
    title = "Remove packages"
    description = "Removes packages from the environment of the notebook's kernel."
    examples = ("Uninstall tensorflow", "Remove the package numpy", "pip uninstall keras")
    destructive = True

    _needed: Mapping[str, list[str]] = {}

    class Parameters(BaseModel):
        """What is removed."""

        packages: list[str] = parameter(
            title="Packages", kind="packages", min_length=1, max_length=50
        )

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        problems = problems_of(parameters.packages, only_name=True)
        if not problems:
            try:
                self._needed = needed_by(await self.context.python(), parameters.packages)
            except ActionFailed:
                self._needed = {}
        return problems

    def destroys(self, known: Mapping[str, Any]) -> str | None:
        """See ``Action``."""
        packages = known.get("packages")
        if not packages:
            return "The packages are removed from the kernel's environment."
        lines = [f"Removes {', '.join(packages)} from the kernel's environment."]
        for name, users in self._needed.items():
            lines.append(f"{name} is needed by {', '.join(users)}.")
        return " ".join(lines)

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        python = await self.context.python()
        before = await installed(python)
        names = [Requirement(each).name for each in parameters.packages]
        absent = [each for each in names if canonicalize_name(each) not in before]
        if absent:
            raise ActionFailed(f"Not installed in {python}: {', '.join(absent)}.")
        await progress(f"Removing {', '.join(names)}")
        command = pip_command(python, "uninstall", *names)
        if command[1] != "pip":  # pip asks, uv does not
            command.insert(-len(names), "--yes")
        try:
            await must(command, "The packages could not be removed", progress, UNINSTALLS)
        except asyncio.CancelledError as stopped:
            raise ActionStopped(await asyncio.shield(_left(python, before))) from stopped
        after = await installed(python)
        gone = [f"- {name} {before[name]}" for name in sorted(before) if name not in after]
        return ActionResult(f"Removed from `{python}`:\n\n" + "\n".join(gone))


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """What is installed now and was not, or in another version."""
    return [
        f"- {name} {version}" + (f" (was {before[name]})" if name in before else "")
        for name, version in sorted(after.items())
        if before.get(name) != version
    ]


async def _left(python: str, before: Mapping[str, str]) -> str:
    """How the environment is after it was stopped."""
    try:
        after = await installed(python)
    except ActionFailed as error:
        return f"Stopped. What is installed in `{python}` now is not known: {error}"
    lines = _changed(before, after)
    lines += [f"- {name} {before[name]} is removed" for name in sorted(before.keys() - after)]
    if not lines:
        return f"Stopped. The packages of `{python}` are as they were."
    return f"Stopped, but these packages of `{python}` were changed before:\n\n" + "\n".join(lines)

"""What is installed in the kernel's environment, what is out of date and what is in conflict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from ...action import Action, ActionFailed, ActionResult, Option, Progress, parameter
from .packages import installed
from .programs import must, pip_command, run


class ListPackages(Action):
    """Lists packages; changes nothing."""

    id = "list"
    title = "List the packages"
    description = "Lists installed packages, and which are out of date or in conflict."
    examples = (
        "List the installed packages",
        "Which packages are out of date?",
        "Show the outdated packages",
        "Check the environment for conflicts",
    )

    class Parameters(BaseModel):
        """Which packages are listed."""

        show: Literal["all", "outdated", "conflicts"] = parameter("all", title="Show")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return [
            Option("all", "all packages"),
            Option("outdated", "out of date"),
            Option("conflicts", "conflicts"),
        ]

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        python = await self.context.python()
        if parameters.show == "conflicts":
            return await _conflicts(python, progress)
        if parameters.show == "outdated":
            return await _outdated(python, progress)
        await progress("Listing packages")
        packages = await installed(python)
        rows = [f"| {name} | {version} |" for name, version in sorted(packages.items())]
        table = "\n".join(["| package | version |", "| --- | --- |", *rows])
        return ActionResult(f"{len(packages)} packages of `{python}`:\n\n{table}")


async def _conflicts(python: str, progress: Progress) -> ActionResult:
    await progress("Checking requirements")
    done = await run(pip_command(python, "check"))
    if done.code == 0:
        return ActionResult(f"The packages of `{python}` do not conflict.")
    if "No module named pip" in done.errors:
        raise ActionFailed(
            "Neither pip in the kernel's environment nor uv on the server was found."
        )
    return ActionResult(f"Conflicts in `{python}`:\n\n```\n{done.tail}\n```")


async def _outdated(python: str, progress: Progress) -> ActionResult:
    await progress("Checking for newer versions")
    command = pip_command(python, "list", "--outdated", "--format", "json")
    done = await must(command, "Could not check for newer versions", progress)
    try:
        found = [(e["name"], e["version"], e["latest_version"]) for e in json.loads(done.output)]
    except (ValueError, KeyError, TypeError) as error:
        raise ActionFailed("The output of pip could not be read.") from error
    if not found:
        return ActionResult(f"The packages of `{python}` are up to date.")
    rows = [" | ".join(("", *each, "")).strip() for each in found]
    head = ["| package | installed | newest |", "| --- | --- | --- |"]
    table = "\n".join([*head, *rows])
    return ActionResult(f"Out of date in `{python}`:\n\n{table}")

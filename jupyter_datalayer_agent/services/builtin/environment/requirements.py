"""Requirements files: written of what is installed, and checked against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion
from pydantic import BaseModel

from ...action import Action, ActionResult, Progress, parameter
from ...new_files import beside, new_file, write_new
from .packages import installed
from .programs import must, pip_command


class WriteRequirements(Action):
    """Writes a new file with the versions of all that is installed."""

    id = "write-requirements"
    title = "Write a requirements file"
    description = "Writes a requirements file with the installed packages and their versions."
    examples = (
        "Write a requirements.txt",
        "Freeze the environment to a requirements file",
        "Save the package versions as a requirements file",
    )

    class Parameters(BaseModel):
        """Where it is written."""

        target: str = parameter("requirements.txt", title="File", kind="new-path")

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        python = await self.context.python()
        target = beside(self.context.notebook or "", parameters.target, ".txt")
        path = await new_file(self.context, target)
        await progress("Listing packages")
        done = await must(pip_command(python, "freeze"), "The packages could not be listed")
        write_new(path, done.output)
        count = len(done.output.splitlines())
        return ActionResult(f"Wrote `{target}`: {count} packages of `{python}`.", [target])


class CheckRequirements(Action):
    """Compares a requirements file with what is installed; changes nothing."""

    id = "check-requirements"
    title = "Check a requirements file"
    description = (
        "Reports packages of a requirements file that are missing or have another version."
    )
    examples = (
        "Check requirements.txt against the environment",
        "Does my environment satisfy requirements.txt?",
        "Compare the requirements file with what is installed",
    )

    class Parameters(BaseModel):
        """What is checked."""

        file: str = parameter(title="Requirements file", kind="path")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return [each for each in await self.context.files() if each.endswith((".txt", ".in"))]

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        text = await self.context.text(parameters.file)
        python = await self.context.python()
        await progress("Listing packages")
        problems, checked, passed_over = compare(text, await installed(python))
        lines = [f"- {each}" for each in problems]
        fits = "fits" if not problems else "does not fit"
        head = f"`{python}` {fits} `{parameters.file}` ({checked} requirements)."
        if passed_over:
            lines += ["", "Not checked:", "", *(f"- `{each}`" for each in passed_over)]
        return ActionResult("\n".join([head, "", *lines]).strip())


def compare(text: str, packages: Mapping[str, str]) -> tuple[list[str], int, list[str]]:
    """What is missing or of another version, how many requirements were checked, and the lines that
    were not: options, addresses and what is no requirement."""
    problems, passed_over, checked = [], [], 0
    for line in text.replace("\\\n", " ").splitlines():
        line = line.split(" #")[0].split(" --hash")[0].strip()
        if not line or line.startswith("#"):
            continue
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            passed_over.append(line)
            continue
        if requirement.url is not None:
            passed_over.append(line)
            continue
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        checked += 1
        version = packages.get(canonicalize_name(requirement.name))
        if version is None:
            problems.append(f"{requirement.name} is missing: {line}")
            continue
        try:
            fits = requirement.specifier.contains(version, prereleases=True)
        except InvalidVersion:
            passed_over.append(line)
            continue
        if not fits:
            problems.append(f"{requirement.name} is {version}, not {requirement.specifier}")
    return problems, checked, passed_over

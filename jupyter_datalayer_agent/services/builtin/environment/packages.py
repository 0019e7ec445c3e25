"""Names of packages as users give them, and what is installed in an environment."""

from __future__ import annotations

import asyncio
import json
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any, Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion
from pydantic import BaseModel

from ...action import (
    Action,
    ActionFailed,
    ActionResult,
    ActionStopped,
    Option,
    Progress,
    beside,
    new_file,
    parameter,
    write_new,
)
from .programs import INSTALLS, UNINSTALLS, must, pip_command, run


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


# What is installed in the kernel's environment, what is out of date and what is in conflict.


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


# Installs packages into the kernel's environment, and removes them from it.


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


# Requirements files: written of what is installed, and checked against it.


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

"""``/environment``: the packages of the notebook's kernel, and kernels."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ...action import Action, ActionFailed, ActionResult, Progress, parameter
from ...service import Link, Service, ServiceConfig
from .packages import (
    CheckRequirements,
    Install,
    ListPackages,
    Remove,
    WriteRequirements,
    problems_of,
)
from .programs import must, pip_command, uv

# Makes kernels, and gives a notebook another one.


_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class NewKernel(Action):
    """Makes a virtual environment with ipykernel, and a kernel of it for this user."""

    id = "new-kernel"
    title = "Make a new kernel"
    description = (
        "Creates a virtual environment with its own packages, and a Jupyter kernel for it."
    )
    examples = (
        'Create a kernel called "forecasts"',
        "Create a virtual environment with its own kernel",
        "Set up a fresh kernel with pandas and statsmodels",
    )

    class Parameters(BaseModel):
        """What it is called, and what is installed in it."""

        name: str = parameter(
            title="Name",
            description="Letters, digits, dots, hyphens and underscores. Also the folder's name.",
            kind="name",
            min_length=1,
            max_length=64,
        )
        packages: list[str] = parameter([], title="Packages", kind="packages", max_length=50)

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        if not _NAME.fullmatch(parameters.name.lower()):
            return {"name": "Use only letters, digits, dots, hyphens and underscores."}
        return problems_of(parameters.packages)

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        from jupyter_core.paths import jupyter_data_dir

        name = parameters.name.lower()
        data = Path(jupyter_data_dir())
        folder, spec = data / "datalayer-agent-kernels" / name, data / "kernels" / name
        if folder.exists() or spec.exists():
            raise ActionFailed(f"A kernel named {name} already exists. Choose another name.")
        base = await self.context.python()
        try:
            await _make(base, folder, parameters, progress)
        except BaseException:
            for each in (folder, spec):
                await asyncio.shield(asyncio.to_thread(shutil.rmtree, each, ignore_errors=True))
            raise
        return ActionResult(
            f"Created the kernel **{parameters.name}** in `{folder}`. Choose it for a notebook by "
            f"`/environment use the kernel {name}`."
        )


async def _make(base: str, folder: Path, parameters: Any, progress: Progress) -> None:
    await progress("Creating the environment", 0.1)
    program = uv()
    command = (
        [program, "venv", "--python", base, str(folder)]
        if program is not None
        else [base, "-I", "-m", "venv", str(folder)]
    )
    await must(command, "The environment could not be created", progress)
    python = folder / "bin" / "python"
    if not python.exists():
        python = folder / "Scripts" / "python.exe"
    await progress("Installing ipykernel", 0.3)
    install = pip_command(str(python), "install", "ipykernel", *parameters.packages)
    await must(install, "The packages could not be installed", progress)
    await progress("Registering the kernel", 0.9)
    register = [str(python), "-I", "-m", "ipykernel", "install", "--user"]
    register += ["--name", parameters.name.lower(), "--display-name", parameters.name]
    await must(register, "The kernel could not be registered", progress)


class ChangeKernel(Action):
    """Starts another kernel for the notebook."""

    id = "change-kernel"
    title = "Change the notebook's kernel"
    description = "Switches the active notebook to another kernel."
    examples = (
        "Change the kernel of this notebook",
        "Switch the kernel to R",
        "Use the kernel forecasts for this notebook",
    )
    destructive = True

    class Parameters(BaseModel):
        """Which kernel it becomes."""

        kernel: str = parameter(title="Kernel")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return await self.context.kernels()

    def destroys(self, known: Mapping[str, Any]) -> str | None:
        """See ``Action``."""
        return "The notebook's current kernel is shut down and loses its variables."

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        path = self.context.notebook
        if path is None:
            raise ActionFailed(
                "No notebook is active. Open the notebook whose kernel you want to change."
            )
        await progress("Starting the kernel")
        await self.context.call("selectKernel", {"path": path, "kernelName": parameters.kernel})
        return ActionResult(f"`{path}` has the kernel {parameters.kernel} now.")


_CONTEXT = """
# Which environment
Everything here is about the environment of the notebook's kernel, which need not be the one in
which the server runs: a kernel's interpreter is named by its kernelspec. It is a Python
environment.

# Install and remove
Packages are installed by uv where the server has it, which is much faster, else by the
environment's pip. What is imported already keeps its old version until the kernel is restarted.
Removing a package does not remove what it needs, and what needs it fails then: the proposal says
which packages these are.

# Versions and conflicts
`pandas>=2,<3` asks for a version. A package is out of date where its index has a newer one. A
conflict is a package that needs another version than the one installed, or one that is missing.

# Requirements files
A requirements file with exact versions lets others make the same environment; one with the
packages that you import, with lower bounds, lets a project live longer. Write exact versions for
a result that is to be reproduced, and bounds for a library.

# Kernels
A kernel of its own keeps the packages of a project apart: it is a virtual environment with
ipykernel and an entry under the user's Jupyter data directory. Changing a notebook's kernel ends
the one that it has, and its variables are lost.

# conda
Packages that pip cannot build (such as R or system libraries) come from conda. Make such an
environment in a terminal, with ipykernel in it, and choose its kernel here.
"""

SERVICE = Service(
    id="environment",
    name="Environment",
    description="Install and check packages; create kernels.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[
            Link("Installing packages", "https://packaging.python.org/en/latest/tutorials/"),
            Link("uv", "https://docs.astral.sh/uv/"),
        ],
        topics=[
            *("install", "uninstall", "package", "packages", "pip", "uv", "requirements", "kernel"),
            *("virtual environment", "venv", "dependencies", "outdated", "conflicts", "version"),
            *("installieren", "installer", "instalar", "paket", "paquet", "paquete", "library"),
        ],
        questions=[
            "Is it for this notebook only, or for all that use the kernel?",
            "Does somebody else have to make the same environment?",
        ],
    ),
    examples=[
        "Install seaborn and polars",
        "Which packages are out of date?",
        "Write a requirements.txt",
        "Should I make a kernel of its own for this project?",
    ],
    actions=[
        *(ListPackages, Install, Remove, WriteRequirements, CheckRequirements),
        *(NewKernel, ChangeKernel),
    ],
)

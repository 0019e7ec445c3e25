"""Makes kernels, and gives a notebook another one."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ...action import Action, ActionFailed, ActionResult, Progress, parameter
from .packages import problems_of
from .programs import must, pip_command, uv

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

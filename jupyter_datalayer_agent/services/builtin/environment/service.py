"""``/environment``: the packages of the notebook's kernel, and kernels."""

from __future__ import annotations

from ...service import Link, Service, ServiceConfig
from .changing import Install, Remove
from .kernels import ChangeKernel, NewKernel
from .listing import ListPackages
from .requirements import CheckRequirements, WriteRequirements

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
        triggers=["install", "uninstall", "pip", "installiere", "installe", "instala"],
        not_topics=[
            *("legend", "outlier", "column", "row", "rows", "duplicate", "variable", "heading"),
            *("title", "restart", "interrupt", "dead", "died", "crash", "SVM", "density", "plot"),
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

"""Writes scripts/pins.txt: the exact versions of all that the tests and checks ran with.

python scripts/pins.py           writes it from the environment in use
python scripts/pins.py --check   fails where pyproject.toml asks for something that it does not have

It is for an audit (``make audit``) and to make the same environment again
(``CONSTRAINTS=scripts/pins.txt make tests-ready``). Installing does not need it: an index may not
have each of these versions, and another Python or system needs other ones.
"""

import platform
import sys
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from requirements import PROJECT, requirements

PINS = Path(__file__).with_name("pins.txt")
EXTRAS = ("test", "lint")
NOT_OURS = {canonicalize_name(PROJECT["name"]), "pip", "setuptools", "uv", "wheel"}
"""This package itself, and what installs."""


def installed() -> dict[str, str]:
    """The version of each distribution in this environment, by its normalized name."""
    versions = {canonicalize_name(each.metadata["Name"]): each.version for each in distributions()}
    return {name: versions[name] for name in sorted(versions) if name not in NOT_OURS}


def pinned() -> dict[str, str]:
    """The versions in the file."""
    lines = [line for line in PINS.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("==") for line in lines)


def missing(pins: dict[str, str]) -> list[str]:
    """The requirements that no pin fulfils."""
    found = []
    for text in requirements(list(EXTRAS)):
        requirement = Requirement(text)
        version = pins.get(canonicalize_name(requirement.name))
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            found.append(f"{text}: {'no pin' if version is None else f'pinned to {version}'}")
    return found


def main() -> None:
    if sys.argv[1:] == ["--check"]:
        if found := missing(pinned()):
            sys.exit("\n".join([*found, "Make scripts/pins.txt anew: make pins"]))
        return
    python = ".".join(platform.python_version_tuple()[:2])
    head = f"# Made by `make pins` with Python {python} on {platform.system()}.\n"
    PINS.write_text(head + "".join(f"{name}=={each}\n" for name, each in installed().items()))


if __name__ == "__main__":
    main()

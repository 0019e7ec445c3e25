"""Prints what the package needs with the extras that are named, a requirement a line.

python scripts/requirements.py [EXTRA]…
"""

import re
import sys
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10, where pip brings a reader of its own
    from pip._vendor import tomli as tomllib

PROJECT = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())["project"]
OF_ITS_OWN = re.compile(rf"{re.escape(PROJECT['name'])}\[([^\]]+)\]$")


def requirements(extras: list[str]) -> list[str]:
    """The project's dependencies and those of the extras, also of extras that name extras."""
    needed: list[str] = list(PROJECT["dependencies"])
    for extra in extras:
        for requirement in PROJECT["optional-dependencies"][extra]:
            own = OF_ITS_OWN.match(requirement)
            needed += requirements(own[1].split(",")) if own else [requirement]
    return list(dict.fromkeys(needed))


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))

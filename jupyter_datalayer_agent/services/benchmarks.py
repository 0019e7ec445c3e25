"""Benchmark cases: a message, and what the agent should understand by it.

Those of a service are in a YAML file, which ``cases_from`` reads; those of another package's are
what its ``Service.cases`` returns. ``jupyter datalayer-agent benchmark`` runs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Expect:
    """What is right; what is not given is not checked.

    ``service`` None: an ordinary message, which goes to no service. ``parameters`` are values that
    must be found, ``missing`` names that must stay open: a value there was made up. ``complete``:
    whether the proposal has all that it needs.
    """

    service: str | None = None
    subcommand: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    missing: Sequence[str] = ()
    complete: bool | None = None


@dataclass(frozen=True)
class Case:
    """A case. ``notebook`` is the active one, ``files`` are those under the root (by path), and
    ``history`` the messages of the user before this one, oldest first. ``kind`` says what it is
    about: routing, parameters, open, refused, misspelt, language, two, history."""

    id: str
    message: str
    expect: Expect
    kind: str = "routing"
    notebook: str | None = "cars.ipynb"
    files: Sequence[str] = ("cars.ipynb", "cars.csv")
    history: Sequence[str] = ()


def builtin_cases(service_id: str) -> list[Case]:
    """The cases that are here for a service, which may be another package's."""
    file = Path(__file__).parent / "builtin" / "cases" / f"{service_id}.yaml"
    return cases_from(file) if file.exists() else []


def cases_from(file: Path) -> list[Case]:
    """The cases of a YAML file: a ``service``, the ``files`` of its cases, and the ``cases``, each
    with its ``id`` and ``message``, the ``action`` that is right, and what else ``Expect`` and
    ``Case`` have. A case with ``service: null`` is an ordinary message, though it may look
    otherwise. Raises ``ValueError`` that names the file."""
    import yaml

    try:
        known = yaml.safe_load(file.read_text(encoding="utf-8"))
        return [_case(known, entry) for entry in known["cases"]]
    except (LookupError, TypeError, yaml.YAMLError) as error:
        raise ValueError(f"{file}: {error}") from error


def _case(known: Mapping[str, Any], entry: dict[str, Any]) -> Case:
    expect = Expect(
        entry.pop("service", known["service"]),
        entry.pop("action", None),
        entry.pop("parameters", {}),
        entry.pop("missing", ()),
        entry.pop("complete", None),
    )
    return Case(expect=expect, **{"files": known["files"], **entry})

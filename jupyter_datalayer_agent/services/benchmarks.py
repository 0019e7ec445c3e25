"""Benchmark cases: a message, and what the agent should understand by it.

A service brings its own as a module ``cases`` with a list ``CASES`` beside its declaration, and
other packages as ``Service.cases``. ``jupyter datalayer-agent benchmark`` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..protocol.services import ActionProposal


@dataclass(frozen=True)
class Expect:
    """What is right; what is not given is not checked.

    ``service`` None: an ordinary message, which goes to no service. ``parameters`` are values that
    must be found, ``missing`` names that must stay open: a value there was made up. ``check`` looks
    at the proposal and says what is wrong with it, or None.
    """

    service: str | None = None
    subcommand: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    missing: Sequence[str] = ()
    check: Callable[[ActionProposal], str | None] | None = None


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


@dataclass(frozen=True)
class CasesOf:
    """Makes the cases of one service, over the same files."""

    service: str
    files: Sequence[str]

    def case(
        self,
        case_id: str,
        kind: str,
        message: str,
        subcommand: str,
        /,
        missing: Sequence[str] = (),
        history: Sequence[str] = (),
        **parameters: object,
    ) -> Case:
        """A case that expects this subcommand, with these parameters found."""
        expect = Expect(self.service, subcommand, parameters, missing)
        return Case(case_id, message, expect, kind=kind, files=self.files, history=history)

    def ordinary(self, case_id: str, message: str) -> Case:
        """A message that is not for the service, though it may look so."""
        return Case(case_id, message, Expect(), kind="refused", files=self.files)

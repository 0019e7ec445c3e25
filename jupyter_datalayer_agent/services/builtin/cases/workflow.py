"""Benchmark cases that the services with one workflow of a data file have in common."""

from __future__ import annotations

from collections.abc import Sequence

from ...benchmarks import Case, CasesOf

_ONE = ("cars.ipynb", "cars.csv")
_TWO = (*_ONE, "houses.csv")


def of_workflow(
    service: str,
    action: str,
    asks: str,
    *,
    misspelt: str,
    german: str,
    french: str,
    learn: Sequence[str],
    ideas: str,
    ordinary: Sequence[str],
) -> list[Case]:
    """``asks``, and the same misspelt and in other languages, come before a file's name. ``learn``
    are questions, ``ideas`` asks for advice, and ``ordinary`` is for no service."""
    one, two = CasesOf(service, _ONE), CasesOf(service, _TWO)

    def named(name: str, kind: str, message: str, data: str = "cars.csv", **more: str) -> Case:
        text = f"/{service} {message}"
        return two.case(f"{service}-{name}", kind, text, action, data=data, **more)

    return [
        named("named", "parameters", f"{asks} cars.csv"),
        one.case(
            f"{service}-only-file", "parameters", f"/{service} {asks} the data", action,
            missing=["target"], data="cars.csv",
        ),
        two.case(
            f"{service}-open", "open", f"/{service} {asks} the data", action, missing=["data"]
        ),
        one.case(
            f"{service}-gone", "open", f"/{service} {asks} trains.csv", action, missing=["data"]
        ),
        named("notebook", "parameters", f"{asks} cars.csv into may.ipynb", notebook="may.ipynb"),
        named("misspelt", "misspelt", f"{misspelt} cars.csv"),
        named("german", "language", f"{german} cars.csv"),
        named("french", "language", f"{french} cars.csv"),
        named("two", "two", f"{asks} houses.csv and export the notebook as HTML", "houses.csv"),
        *(
            one.case(f"{service}-learn-{n}", "routing", f"/{service} {each}", "learn")
            for n, each in enumerate(learn, start=1)
        ),
        one.case(f"{service}-ideas-1", "routing", f"/{service} {ideas}", "brainstorm"),
        *(one.ordinary(f"{service}-not-{n}", each) for n, each in enumerate(ordinary, start=1)),
        two.case(
            f"{service}-history", "history", "houses.csv, please", action,
            history=[f"/{service} cars.csv"], data="houses.csv",
        ),
    ]  # fmt: skip

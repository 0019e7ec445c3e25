"""The benchmark cases of the built-in services, as far as they go without a model."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_datalayer_agent.benchmark.cases import cases_of
from jupyter_datalayer_agent.benchmark.runner import run_case
from jupyter_datalayer_agent.services.builtin import builtin_services
from jupyter_datalayer_agent.services.routing import Router

# The shares that were measured, of all cases of a service: what is right was proposed, or is one of
# up to three offers.
MEASURED = {
    "notebook": (26, 32),
    "data": (36, 39),
    "environment": (22, 34),
    "jupyterlab": (28, 29),
    "visualize": (16, 16),
    "model": (17, 18),
    "report": (16, 16),
    "storage": (19, 19),
    "lexical": (18, 20),
}


@pytest.mark.parametrize("service_id", MEASURED)
def test_as_many_cases_are_right_as_were_measured(service_id: str) -> None:
    registry = builtin_services()
    service = registry.find(service_id)
    assert service is not None
    router = Router(registry)
    cases = cases_of(service)
    wrong, wrongly_proposed = {}, {}
    for case in cases:
        result = asyncio.run(run_case(case, router))
        if not result.right:
            wrong[case.id] = result.problems
            if result.proposed:
                wrongly_proposed[case.id] = result.problems
    right, among = MEASURED[service_id]
    assert len(cases) == among >= 15
    assert len(cases) - len(wrong) >= right, wrong
    assert wrongly_proposed == {}


@pytest.mark.parametrize("service_id", MEASURED)
def test_there_are_cases_of_every_kind(service_id: str) -> None:
    service = builtin_services().find(service_id)
    assert service is not None
    kinds = {case.kind for case in cases_of(service)}
    assert kinds >= {"routing", "refused", "misspelt", "language", "two", "history"}
    # Without its package, /storage has no parameters.
    assert kinds >= {"parameters", "open"} or not service.actions

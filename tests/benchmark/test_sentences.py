"""The benchmark's ordinary sentences: what they ask for exists, and how many are understood."""

from __future__ import annotations

import asyncio
from collections import Counter

from jupyter_datalayer_agent.benchmark.cases import sentence_cases
from jupyter_datalayer_agent.benchmark.runner import run_case
from jupyter_datalayer_agent.services.builtin import builtin_services
from jupyter_datalayer_agent.services.routing import Router

MEASURED = 36
"""So many of the 60 are right without a model. The sentences are not what it is tuned by."""


def test_half_of_each_language_is_for_an_action_that_there_is() -> None:
    registry = builtin_services()
    cases = sentence_cases()
    for_service = [case for case in cases if case.expect.service is not None]
    for case in for_service:
        service = registry.find(case.expect.service or "")
        assert service is not None, case
        assert service.action(case.expect.subcommand or "") is not None, case
    languages = ("en", "de", "fr", "es", "it", "ja")
    assert Counter(case.kind for case in cases) == dict.fromkeys(languages, 10)
    assert Counter(case.kind for case in for_service) == dict.fromkeys(languages, 5)


def test_without_a_model_none_is_proposed_wrongly() -> None:
    router = Router(builtin_services())
    results = [asyncio.run(run_case(case, router)) for case in sentence_cases()]
    assert not any(each.proposed and not each.right for each in results)
    assert sum(each.right for each in results) >= MEASURED

"""Benchmark reports: what is counted, with which interval, and how two of them differ."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_datalayer_agent.benchmark.cases import all_cases
from jupyter_datalayer_agent.benchmark.report import comparison, interval, markdown, report
from jupyter_datalayer_agent.benchmark.runner import Result, run_case
from jupyter_datalayer_agent.services.benchmarks import Case, Expect
from jupyter_datalayer_agent.services.builtin import builtin_services
from jupyter_datalayer_agent.services.routing import Router


@pytest.fixture(scope="module")
def router() -> Router:
    return Router(builtin_services())


def run(router: Router, message: str, **expect: Any) -> Result:
    return asyncio.run(run_case(Case("it", message, Expect(**expect)), router))


# By R's binom::binom.wilson(x, n), to four digits.
@pytest.mark.parametrize(
    ("right", "runs", "low", "high"),
    [
        (8, 10, 0.4902, 0.9433),
        (10, 10, 0.7225, 1.0),
        (0, 10, 0.0, 0.2775),
        (45, 60, 0.6277, 0.8422),
    ],
)
def test_the_interval_is_wilsons(right: int, runs: int, low: float, high: float) -> None:
    assert interval(right, runs) == pytest.approx((low, high), abs=5e-5)


def test_a_case_that_is_right(router: Router) -> None:
    done = run(
        router,
        "/notebook export cars.ipynb to slides",
        service="notebook",
        subcommand="export",
        parameters={"notebook": "cars.ipynb", "format": "slides"},
    )
    assert done.problems == []


@pytest.mark.parametrize(
    ("message", "expect", "problem"),
    [
        ("Explain cell 2", {"service": "notebook"}, "went to an ordinary turn, not to /notebook"),
        ("/notebook export", {}, "went to /notebook, not to an ordinary turn"),
        (
            "/notebook export",
            {"service": "notebook", "subcommand": "learn"},
            "was taken for export, not for learn",
        ),
        (
            "/notebook export HTML",
            {"service": "notebook", "parameters": {"format": "slides"}},
            "format is 'html', not 'slides'",
        ),
        (
            "/notebook export HTML",
            {"service": "notebook", "missing": ["format"]},
            "format was made up: 'html'",
        ),
        (
            "/notebook export HTML",
            {"service": "notebook", "complete": False},
            "the proposal is complete",
        ),
    ],
)
def test_each_way_to_be_wrong_is_noticed(
    router: Router, message: str, expect: dict[str, Any], problem: str
) -> None:
    assert run(router, message, **expect).problems == [problem]


def test_a_later_message_refines_what_the_first_one_proposed(router: Router) -> None:
    case = Case(
        "refined",
        "no, to Markdown",
        Expect("notebook", "export", {"format": "markdown", "notebook": "cars.ipynb"}),
        history=["/notebook export to HTML"],
    )
    assert asyncio.run(run_case(case, router)).problems == []


def test_no_ordinary_message_is_taken_for_a_service_and_few_are_answered_with_offers(
    router: Router,
) -> None:
    cases = [case for service, case in all_cases(router.registry) if service == "ordinary"]
    results = [asyncio.run(run_case(case, router)) for case in cases]
    wrong = [c.message for c, r in zip(cases, results, strict=True) if not r.right]
    offered = [c.message for c, r in zip(cases, results, strict=True) if r.offered]
    assert len(cases) >= 100
    assert wrong == []
    assert len(offered) < 0.05 * len(cases), offered


def test_a_report_counts_by_service_and_kind_and_two_are_compared() -> None:
    def of(*right: bool) -> dict[str, Any]:
        runs = [
            ("data", "convert", "routing", Result([] if each else ["wrong"], calls=2, tokens=100))
            for each in right
        ]
        return report(runs, model="openai/x", version="1")

    before, after = of(True, True, False, False), of(True, True, True, False)
    assert before["services"]["data"]["success"] == 0.5
    assert before["total"]["interval"] == [0.15, 0.85]
    assert before["kinds"]["routing"]["tokensPerRun"] == 100
    assert "`data/convert` (2 of 4): wrong" in markdown(before)
    text = comparison(before, after)
    assert "| data | 50.0% | 75.0% |" in text
    assert "Better:\n\n- `data/convert`: 50.0% → 75.0%" in text
    assert "Worse:\n\n- `data/convert`: 75.0% → 50.0%" in comparison(after, before)

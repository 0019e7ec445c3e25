"""What a step of a plan needs: which steps cannot be begun, and what an edit leaves of it."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_datalayer_agent.agent.plan.draft import keep_dependencies
from jupyter_datalayer_agent.protocol.plans import Plan, PlanStep, StepStatus

STATUS: dict[str, StepStatus] = {"+": "completed", "x": "failed", ".": "pending"}
Needs = list[int] | None


def plan(statuses: str, *needs: Needs) -> Plan:
    steps = [
        PlanStep(description=f"{n}", status=STATUS[each], dependencies=needed)
        for n, (each, needed) in enumerate(zip(statuses, needs, strict=True))
    ]
    return Plan(task="", steps=steps)


@pytest.mark.parametrize(
    ("given", "blocked", "next_step"),
    [
        (plan("...", None, None, None), [], 0),
        (plan("+..", None, None, None), [], 1),
        (plan("+++", [], [0], [1]), [], None),
        # Without stated dependencies, a step needs all before it.
        (plan("x..", None, None, None), [1, 2], None),
        (plan("x..", [], [], []), [1, 2], None),
        # One that failed holds up what needs it, also through others, and nothing else.
        (plan("x..", [], [], [0]), [2], 1),
        (plan("x....", [], [0], [1], [], [3]), [1, 2], 3),
        (plan("x+.", [], [], [0, 1]), [2], None),
        (plan("x..", [], [0], None), [1, 2], None),
        (plan("+x.", [], [], [0]), [], 2),
    ],
)
def test_a_step_that_needs_one_that_failed_is_not_begun(
    given: Plan, blocked: list[int], next_step: int | None
) -> None:
    assert given.blocked() == blocked
    assert given.next_step == next_step


def steps(**needs: Needs) -> list[PlanStep]:
    return [PlanStep(description=name, dependencies=each) for name, each in needs.items()]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("load clean plot", [[], [0], [0, 1]]),
        # What was put behind is no longer needed.
        ("load plot clean", [[], [0], [0]]),
        # Steps that are gone, or have another text, have no known dependencies.
        ("load extra clean plot", [[], None, [0], [0, 2]]),
        ("clean plot", [None, None]),
        ("load plot", [[], None]),
        ("load", [[]]),
    ],
)
def test_an_edit_keeps_what_each_step_needs(order: str, expected: list[Any]) -> None:
    before = steps(load=[], clean=[0], plot=[0, 1])
    edited = [PlanStep(description=name) for name in order.split()]
    kept = keep_dependencies(edited, edited, before)
    assert [step.dependencies for step in kept] == expected


def test_what_an_edit_says_itself_goes_before_what_was() -> None:
    before = steps(load=[], plot=[0])
    given = steps(load=[], look=[], plot=[0, 1])
    kept = keep_dependencies([step.model_copy() for step in given], given, before)
    assert [step.dependencies for step in kept] == [[], [], [0, 1]]

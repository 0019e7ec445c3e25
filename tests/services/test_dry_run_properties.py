"""The dry run under generated wizards, forms and answers: nothing is executed, it ends in bounded
time with at most 20 questions, and never claims to be complete without what is required."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, create_model

from jupyter_datalayer_agent.services.action import (
    NO_SKIP,
    Action,
    ActionFailed,
    ActionResult,
    Progress,
    parameter,
)
from jupyter_datalayer_agent.services.dry_run import CANCEL_SECONDS, MOST_SECONDS, DryRun, dry_run
from jupyter_datalayer_agent.services.questions import Answer, Question
from tests.services import virtual_time
from tests.services.context import FakeContext

SECRET = "s3cret-value-0123"
BOUND = 2 * MOST_SECONDS + 100 * CANCEL_SECONDS
"""The questions and the check of what was found have a limit each; what is cut off by it may clean
up."""
NAMES = ("a", "b", "c", "d")
VALUES = ("x", "y", "z", 1, True)
REFUSED = "z"
"""What each validation refuses."""

many = settings(
    max_examples=500,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@dataclass(frozen=True)
class Ask:
    """A question of a generated wizard; ``then`` is what it goes on with after the answer "x"."""

    kind: str
    name: str
    options: tuple[Any, ...] = ()
    validate: str = "none"
    skip: bool = False
    then: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Does:
    """What a generated wizard does otherwise."""

    what: str


def refuse(value: Any) -> str | None:
    return f"{value!r} is refused." if value == REFUSED or value == [REFUSED] else None


async def refuse_later(value: Any) -> str | None:
    await asyncio.sleep(0)
    return refuse(value)


def raises(value: Any) -> str | None:
    raise RuntimeError(f"validation of {value}")


async def hangs(value: Any) -> str | None:
    await asyncio.Event().wait()
    return None


VALIDATE: dict[str, Any] = {
    "none": None, "sync": refuse, "async": refuse_later, "raises": raises, "hangs": hangs,
}  # fmt: skip


@dataclass
class Trace:
    """What a wizard saw."""

    executed: int = 0
    returned: bool = False
    answers: list[tuple[Ask, Any]] = field(default_factory=list)


def wizard_of(program: Sequence[Any], trace: Trace, ending: str) -> type[Action]:
    class Generated(Action):
        id = "generated"
        title = "Generated"
        description = "Does what was generated."

        class Parameters(BaseModel):
            a: Any = None
            secret: Any = None

        async def wizard(self, ui: Any) -> Any:
            await self._run(ui, program)
            trace.returned = True
            return {"none": None, "parameters": self.Parameters(), "other": 3}[ending]

        async def _run(self, ui: Any, steps: Sequence[Any]) -> None:
            for step in steps:
                if isinstance(step, Ask):
                    answer = await ask(ui, step)
                    trace.answers.append((step, answer))
                    if answer == "x":
                        await self._run(ui, step.then)
                else:
                    await do(ui, step.what, trace.answers)

        async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
            trace.executed += 1
            return ActionResult("done")

    return Generated


async def ask(ui: Any, step: Ask) -> Any:
    more: dict[str, Any] = {"skip_value": "skipped"} if step.skip else {}
    if step.kind == "confirm":
        return await ui.confirm(step.name, "Sure?", **more)
    more["validate"] = VALIDATE[step.validate]
    if step.kind == "secret":
        return await ui.text("secret", "The key", secret=True, **more)
    if step.kind in ("pick", "pick_many"):
        return await getattr(ui, step.kind)(step.name, "Which?", step.options, **more)
    return await getattr(ui, step.kind)(step.name, "What?", **more)


async def do(ui: Any, what: str, seen: Any) -> None:
    if what == "raise":
        raise RuntimeError(f"broken with {seen}")
    if what == "fail":
        raise ActionFailed("It is not there.")
    if what == "cancel":
        raise asyncio.CancelledError
    if what == "exit":
        raise SystemExit(3)
    if what == "hang":
        await asyncio.Event().wait()
    if what == "swallow":
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
    if what == "swallow_question":
        try:
            await ui.text("never", "Never answered?")
        except asyncio.CancelledError:
            await ui.text("more", "And this?")
    if what == "same":
        while True:
            await ui.text("same", "Again?", skip_value=None)
    if what == "new":
        for number in range(10_000):
            await ui.text(f"new{number}", "And then?", skip_value=None)


plain_asks = st.builds(
    Ask,
    kind=st.sampled_from(["pick", "pick_many", "text", "confirm", "path", "secret"]),
    name=st.sampled_from(NAMES),
    options=st.lists(st.sampled_from(VALUES), max_size=3).map(tuple),
    # Mostly such as let a wizard go on.
    validate=st.sampled_from(["none"] * 4 + ["sync"] * 3 + ["async"] * 3 + ["raises", "hangs"]),
    skip=st.booleans(),
)
does = st.builds(
    Does,
    st.sampled_from(
        ["raise", "fail", "cancel", "exit", "hang", "swallow", "swallow_question", "same", "new"]
    ),
)
steps = st.one_of(plain_asks, plain_asks, plain_asks, plain_asks, does)
asks = st.builds(
    lambda one, then: Ask(one.kind, one.name, one.options, one.validate, one.skip, tuple(then)),
    plain_asks,
    st.lists(steps, max_size=3),
)
programs = st.lists(st.one_of(asks, asks, asks, asks, does), max_size=6)
answers = st.dictionaries(
    st.sampled_from((*NAMES, "same", "secret", "new0", "never")),
    st.one_of(
        st.sampled_from((*VALUES, "other", None, 2.5, False)),
        st.lists(st.sampled_from(VALUES), max_size=2),
    ),
)


@dataclass
class Generated:
    """A filler with generated answers."""

    values: Mapping[str, Any]
    asked: list[Question] = field(default_factory=list)
    given: list[str] = field(default_factory=list)

    async def fill(
        self, questions: Sequence[Question], message: str, known: Mapping[str, Any]
    ) -> dict[str, Answer]:
        self.asked += questions
        self.given.append(repr((questions, dict(known))))
        names = {each.name for each in questions}
        return {n: Answer(v, "it") for n, v in self.values.items() if n in names and v is not None}


def run(action: type[Action], known: Mapping[str, Any], filler: Generated) -> tuple[DryRun, Action]:
    made = action(FakeContext())

    return virtual_time.run(asyncio.wait_for(dry_run(made, "do it", known, filler), BOUND)), made


def check_secrets(result: DryRun, action: Action, filler: Generated, log: str) -> None:
    assert not any(question.secret for question in filler.asked)
    assert not any(SECRET in text for text in filler.given)
    proposal = result.proposal("tests", action)
    assert SECRET not in json.dumps(proposal.to_wire())
    assert SECRET not in log


def allowed(step: Ask, value: Any) -> bool:
    """Whether a wizard may be given this for its question: an oracle of its own."""
    if step.skip and value == "skipped":
        return True
    if step.kind == "confirm":
        return isinstance(value, bool)
    if step.validate != "none" and refuse(value) is not None:
        return False
    if step.kind == "pick":
        return (type(value), value) in [(type(each), each) for each in step.options]
    if step.kind == "pick_many":
        options = [(type(each), each) for each in step.options]
        return bool(value) and all((type(each), each) in options for each in value)
    return isinstance(value, str)


@many
@example([Ask("text", "a"), Does("swallow_question")], {"a": "y"}, {}, False, "none")
@example([Does("cancel")], {}, {}, False, "none")
@example([Does("exit")], {}, {}, False, "none")
@example([Ask("pick", "a", (1,))], {"a": True}, {}, False, "none")
@example([Ask("secret", "secret"), Does("raise")], {}, {}, True, "none")
@example([Ask("text", "a"), Ask("text", "a", validate="sync", skip=True)], {"a": "z"}, {}, False,
         "parameters")  # fmt: skip
@given(programs, answers, answers, st.booleans(), st.sampled_from(["none", "parameters", "other"]))
def test_a_wizard_only_asks_and_is_complete_only_with_what_it_requires(
    caplog: pytest.LogCaptureFixture,
    program: list[Any],
    said: dict[str, Any],
    known: dict[str, Any],
    with_secret: bool,
    ending: str,
) -> None:
    caplog.clear()
    caplog.set_level(logging.ERROR)
    trace = Trace()
    action = wizard_of(program, trace, ending)
    filler = Generated(said)
    known = {**known, "secret": SECRET} if with_secret else known
    result, made = run(action, known, filler)

    assert trace.executed == 0
    assert len(result.asked) <= 20
    assert len(filler.asked) <= 20
    check_secrets(result, made, filler, caplog.text)
    for step, value in trace.answers:
        assert allowed(step, value), (step, value)
    if result.complete:
        assert trace.returned
        assert isinstance(result.parameters, action.Parameters)
        for each in result.proposal("tests", made).parameters:
            assert each.problem is None
            assert each.found or not each.required
    elif trace.returned and result.finished:
        assert [e for e in result.asked if e.problem or (e.answer is None and e.question.required)]


# -- schema forms --------------------------------------------------------------------------------

FIELDS: dict[str, Any] = {
    "text": str,
    "number": int,
    "flag": bool,
    "one": Literal["x", "y"],
    "many": list[Literal["x", "y"]],
    "anything": str | None,
}
DEPENDS = {"x": ("p", "q"), "y": ("r",)}
"""What the dependent field can be, by the one that it depends on."""

fields = st.dictionaries(
    st.sampled_from(NAMES),
    st.tuples(st.sampled_from(sorted(FIELDS)), st.booleans()),
    max_size=4,
)
form_answers = st.dictionaries(
    st.sampled_from((*NAMES, "upper", "lower", "secret")),
    st.sampled_from(["x", "y", "z", "p", "q", "r", 1, -1, True, 2.5, ["x"], ["z"], [], None]),
)


def form_of(generated: Mapping[str, tuple[str, bool]], trace: Trace, trouble: str) -> type[Action]:
    definitions: dict[str, Any] = {
        name: (
            FIELDS[kind],
            parameter(title=name, **({"ge": 0} if kind == "number" else {}))
            if required
            else parameter(None, title=name),
        )
        for name, (kind, required) in generated.items()
    }
    definitions["upper"] = (str, parameter(title="Upper"))
    definitions["lower"] = (str, parameter(title="Lower"))
    definitions["secret"] = (str, parameter("", title="Key", secret=True))
    model = create_model("Parameters", **definitions)

    class Form(Action):
        id = "form"
        title = "Form"
        description = "A form that was generated."
        destructive = True
        Parameters = model  # type: ignore[misc,assignment]

        async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
            if name == "upper":
                await do(None, trouble, known)
                return list(DEPENDS)
            if name == "lower":
                return DEPENDS.get(str(known.get("upper")), ())
            return None

        async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
            if trouble == "check":
                raise RuntimeError(f"broken with {parameters.secret}")
            if trouble == "elsewhere":
                return {"nowhere": "Something else is wrong."}
            return {"lower": "Not q."} if parameters.lower == "q" else {}

        def destroys(self, known: Mapping[str, Any]) -> str:
            return f"All of {dict(known)}."

        async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
            trace.executed += 1
            return ActionResult("done")

    return Form


@many
@example({}, {"upper": "x", "lower": "p"}, {"upper": "y", "lower": "r"}, "elsewhere")
@example({}, {"upper": "y"}, {"upper": "x", "lower": "p"}, "none")
@example({"a": ("number", True)}, {"upper": "x", "lower": "p", "a": -1}, {"a": 1}, "none")
# Choices that come only after the action was cancelled for taking too long.
@example({}, {"upper": "x", "lower": "p"}, {}, "swallow")
@given(
    fields,
    form_answers,
    form_answers,
    st.sampled_from(["none"] * 6 + ["raise", "fail", "hang", "swallow", "check", "elsewhere"]),
)
def test_a_form_is_complete_only_with_values_that_are_allowed(
    caplog: pytest.LogCaptureFixture,
    generated: dict[str, tuple[str, bool]],
    said: dict[str, Any],
    known: dict[str, Any],
    trouble: str,
) -> None:
    caplog.clear()
    caplog.set_level(logging.ERROR)
    trace = Trace()
    action = form_of(generated, trace, trouble)
    filler = Generated(said)
    result, made = run(action, {**known, "secret": SECRET}, filler)

    assert trace.executed == 0
    assert len(filler.given) <= 1
    check_secrets(result, made, filler, caplog.text)
    if trouble in ("raise", "fail", "hang", "check", "elsewhere", "swallow"):
        assert not result.complete
    if result.complete:
        upper, lower = result.values["upper"], result.values["lower"]
        assert lower in DEPENDS[upper]
        assert lower != "q"
        action.Parameters.model_validate(result.values)
        for name in generated:
            wanted = said.get(name)
            # What the message says of a value is its value, or the form is not complete.
            if wanted is not None:
                assert result.values[name] == wanted
    for each in result.proposal("tests", made).parameters:
        assert not (each.found and each.problem)


def test_a_wizard_goes_on_where_a_question_may_stay_open() -> None:
    trace = Trace()
    program = [Ask("text", "a", skip=True), Ask("pick", "b", ("x", "y"))]
    action = wizard_of(program, trace, "none")
    result, _ = run(action, {}, Generated({"b": "y"}))
    assert [value for _, value in trace.answers] == ["skipped", "y"]
    assert result.complete
    # The value of a question that stays open is the action's, too.
    assert result.parameters is not None
    assert result.parameters.model_dump()["a"] == "skipped"
    assert NO_SKIP not in result.values.values()


def test_a_failure_that_is_for_the_user_is_shown() -> None:
    result, made = run(wizard_of([Does("fail")], Trace(), "none"), {}, Generated({}))
    assert result.proposal("tests", made).description == "It is not there."


def test_an_endless_wizard_says_so() -> None:
    for what, said in (("same", "again and again"), ("new", "more than 20"), ("hang", "too long")):
        result, _ = run(wizard_of([Does(what)], Trace(), "none"), {}, Generated({}))
        assert said in (result.problem or "")
        assert not result.complete

"""What a planned workflow says: to the model between the steps, and to the person."""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol.plans import Plan, PlanStep
from ...protocol.requests import Usage
from ...protocol.tools import Change
from ..watch import Verified

PLAN = (
    "[Do not act yet. First make a plan for this task: the few steps that it needs, each one to "
    "three tool calls, in the order in which they are to be done. Answer with one JSON object and "
    'nothing else: {"steps": [{"description": "what the step does, for the person", "toolCalls": '
    '["names of tools"], "dependencies": [indices of earlier steps, from 0]}], "requiredTools": '
    '["names"], "estimatedDuration": "a guess in words"}. Only tools that you have.]'
)


MOST_NAMED = 10
A_FIX = "a known fix for this kind of error"


def not_valid(problem: str) -> str:
    """To the model: the plan was refused."""
    return f"[This plan cannot be carried out. {problem} Answer with the corrected JSON object.]"


def step_prompt(plan: Plan, index: int) -> str:
    """To the model: carry out one step."""
    step = plan.steps[index]
    tools = f" Planned tools: {', '.join(step.tool_calls)}." if step.tool_calls else ""
    return (
        f"[Step {index + 1} of {len(plan.steps)}: {step.description}.{tools} Do this step now and "
        "only this one, and check its result. Then say in one sentence what was done.]"
    )


def numbered(steps: Sequence[PlanStep]) -> str:
    """The steps, a line each."""
    return "\n".join(f"{number}. {step.description}" for number, step in enumerate(steps, start=1))


def go_on(plan: Plan, index: int) -> str:
    """To the model: a plan is taken up again."""
    return (
        f"[The plan is taken up again at step {index + 1}. The steps now:\n{numbered(plan.steps)}\n"
        "The person may have changed the notebook since; look at what stands there.]"
    )


def decided(plan: Plan) -> str:
    """To the model: what the person made of its plan."""
    return f"[The person changed the plan. The steps now:\n{numbered(plan.steps)}]"


def repair_prompt(error: str, tried: Sequence[str]) -> str:
    """To the model: a step failed."""
    so_far = f" Tried before: {'; '.join(dict.fromkeys(tried))}." if tried else ""
    return (
        f"[This step failed: {_sentence(error)}{so_far} Find the cause, repair the cell in place, "
        "run it again, and finish the step. This is the last attempt before the person is asked.]"
    )


def repaired(title: str, source: str | None) -> str:
    """To the model: the cell was repaired without it."""
    now = f" The cell now is:\n{source}\n" if source is not None else " "
    return f"[The cell was repaired: {title}. It ran without error.{now}Go on with this step.]"


def stopped(plan: Plan, index: int, why: str, tried: Sequence[str]) -> str:
    """To the person (the button for it stands beside): the workflow stopped at a step."""
    step = plan.steps[index]
    said = [
        f"Stopped at step {index + 1} of {len(plan.steps)}, “{step.description}”: {_sentence(why)}",
        f"Tried: {'; '.join(dict.fromkeys(tried))}." if tried else "",
        f"The {_count(index, 'step')} before {'is' if index == 1 else 'are'} done and kept."
        if index
        else "",
        "After a repair of your own, or without one, “continue” goes on with this step.",
    ]
    return " ".join(part for part in said if part)


def summary(
    plan: Plan,
    verified: Verified,
    changes: Sequence[Change],
    seconds: float,
    usage: Usage,
    left: Sequence[str] = (),
) -> str:
    """To the person: the end of a workflow, from what was counted; ``left`` is what still fails."""
    done = sum(step.status == "completed" for step in plan.steps)
    lines = [
        f"**{done} of {_count(len(plan.steps), 'step')} done** in {_time(seconds)}"
        + (f", {usage.total_tokens:,} tokens" if usage.total_tokens else ", without a model"),
        f"- Changed: {_changed(changes)}",
        f"- Verified: {verified.words()}",
        *(f"- {each}" for each in left),
    ]
    return "\n".join(lines)


def still_shows(number: int, path: str | None, error: str, *, earlier: bool) -> str:
    """To the person: a cell that the workflow ran shows an error at its end; ``number`` from 1."""
    where = f" in {path}" if path else ""
    return f"Cell {number}{where}{' of an earlier attempt' if earlier else ''} still shows {error}."


def no_data(became: str, there: Sequence[str]) -> str:
    """To the person, before the summary: a workflow that reads data had none."""
    if not there:
        return f"**No data file was found, so {became}.**"
    names = ", ".join(there[:MOST_NAMED]) + (", …" if len(there) > MOST_NAMED else "")
    return f"**No data file was chosen, so {became}.** There are: {names}. Name one in the message."


def _changed(changes: Sequence[Change]) -> str:
    """Cells by what became of them in the end, each counted once."""
    first: dict[tuple[str, str], Change] = {}
    last: dict[tuple[str, str], Change] = {}
    made = [change.path for change in changes if change.op in ("create", "write")]
    for change in changes:
        if change.cell_id is not None:
            key = (change.path, change.cell_id)
            first.setdefault(key, change)
            last[key] = change
    added = [key for key in last if first[key].op == "insert" and last[key].op != "delete"]
    deleted = [key for key in last if first[key].op != "insert" and last[key].op == "delete"]
    changed = [key for key in last if first[key].op != "insert" and last[key].op != "delete"]
    said = [f"made {path}" for path in dict.fromkeys(made)]
    for keys, word in ((added, "added"), (changed, "changed"), (deleted, "deleted")):
        if keys:
            said.append(f"{_count(len(keys), 'cell')} {word}")
    return ", ".join(said) or "nothing"


def _sentence(text: str) -> str:
    """The text with a full stop at its end."""
    return text if text.rstrip().endswith((".", "!", "?")) else f"{text.rstrip()}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _time(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"

"""The messages of a planned workflow: to the model between steps, and to the user."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...notebook.files.kinds import document_noun, noun
from ...protocol.plans import Plan, PlanStep
from ...protocol.requests import Usage
from ...protocol.services import ActionOffer
from ...protocol.tools import Change
from ...protocol.workflows import WorkflowOffer

PLAN = (
    "[Do not act yet. First make a plan for this task: the few steps that it needs, each one to "
    "three tool calls, in the order in which they are to be done. Answer with one JSON object and "
    'nothing else: {"steps": [{"description": "what the step does, for the user", "toolCalls": '
    '["names of tools"], "dependencies": [indices, from 0, of the earlier steps that it needs]}], '
    '"requiredTools": ["names"], "estimatedDuration": "a guess in words"}. Only tools that you '
    "have.]"
)
_ACTIONS = (
    ' A step that is exactly one of the following actions is given as {"description": …, '
    '"action": "its name", "parameters": {only what the task or an earlier step says}} without '
    "toolCalls. You cannot run it: the plan waits there until the user has.\n"
)

MOST_NAMED = 10
_ENDED = {"completed": " (done)", "skipped": " (skipped)"}
A_FIX = "a known fix for this kind of error"


def plan_request(actions: Sequence[str]) -> str:
    """To the model: make a plan; ``actions`` are those of services that it may name, one a
    line."""
    return PLAN if not actions else f"{PLAN[:-1]}{_ACTIONS}{chr(10).join(actions)}]"


def ran_action(index: int, total: int, output: str) -> str:
    """To the model: the user ran the action of a step."""
    return f"[Step {index + 1} of {total} is done: the user ran its action. Its result:\n{output}]"


def skipped_action(index: int, total: int) -> str:
    """To the model: the user did not want the action of a step."""
    return (
        f"[Step {index + 1} of {total} was skipped by the user: its action was not run. Do not do "
        "it in another way.]"
    )


def not_valid(problem: str) -> str:
    """To the model: the plan was refused."""
    return f"[This plan cannot be carried out. {problem} Answer with the corrected JSON object.]"


def step_prompt(plan: Plan, index: int) -> str:
    """To the model: carry out one step."""
    step = plan.steps[index]
    tools = f" Planned tools: {', '.join(step.tool_calls)}." if step.tool_calls else ""
    failed = [n for n, each in enumerate(plan.steps) if each.status == "failed"]
    if failed:
        left, it = ("is left", "it") if len(failed) == 1 else ("are left", "them")
        tools += (
            f" {_steps(failed).capitalize()} failed and {left} so; this step does not need {it}."
        )
    return (
        f"[Step {index + 1} of {len(plan.steps)}: {step.description}.{tools} Do this step now and "
        "only this one, and check its result. Then say in one sentence what was done.]"
    )


def numbered(steps: Sequence[PlanStep]) -> str:
    """The steps, a line each, and which of them are done or skipped."""
    return "\n".join(
        f"{number}. {step.description}{_ENDED.get(step.status, '')}"
        for number, step in enumerate(steps, start=1)
    )


def go_on(plan: Plan, index: int) -> str:
    """To the model: the plan is resumed."""
    return (
        f"[The plan is taken up again at step {index + 1}. The steps now:\n{numbered(plan.steps)}\n"
        f"The user may have changed the {document_noun(plan.notebook or '')} since; look at "
        "what is there.]"
    )


def decided(plan: Plan) -> str:
    """To the model: the plan as the user edited it."""
    return f"[The user changed the plan. The steps now:\n{numbered(plan.steps)}]"


def fix_prompt(
    error: str, tried: Sequence[str], part: str = "cell", hint: str | None = None
) -> str:
    """To the model: a step failed. ``part`` is what its document consists of; ``hint`` says what to
    do, if known."""
    right = _sentence(hint) if hint else f"Find the cause, and fix the {part} in place."
    so_far = f" Tried before: {'; '.join(dict.fromkeys(tried))}." if tried else ""
    return (
        f"[This step failed: {_sentence(error)}{so_far} {right} Then run it "
        "again, and finish the step. This is the last attempt before the user is asked.]"
    )


def fixed(title: str, part: str = "cell") -> str:
    """To the model: the cell or block was fixed by other means."""
    return f"[The {part} was fixed: {title}. It ran without error. Go on with this step.]"


@dataclass(frozen=True)
class FailedStep:
    """A step that failed: its index, why, and the fixes that were tried."""

    index: int
    why: str
    tried: Sequence[str]


def stopped(plan: Plan, failed: Sequence[FailedStep]) -> str:
    """To the user (beside a button that continues): the workflow stopped at the first failed step,
    and independent steps were done."""
    first, *others = failed
    index = first.index
    step = plan.steps[index]
    tried = first.tried
    done = [n for n, each in enumerate(plan.steps) if each.status == "completed"]
    said = [
        f"Stopped at step {index + 1} of {len(plan.steps)}, “{step.description}”: "
        f"{_sentence(first.why)}",
        f"Tried: {'; '.join(dict.fromkeys(tried))}." if tried else "",
        *(f"Step {each.index + 1} failed, too: {_sentence(each.why)}" for each in others),
        _kept(done),
        _not_started(plan),
        "Fix it yourself, or just continue.",
    ]
    return " ".join(part for part in said if part)


def _kept(done: Sequence[int]) -> str:
    if not done:
        return ""
    return f"{_steps(done).capitalize()} {'is' if len(done) == 1 else 'are'} kept."


def _not_started(plan: Plan) -> str:
    blocked = plan.blocked() if plan.has_dependencies else []
    if not blocked:
        return ""
    need = "it needs" if len(blocked) == 1 else "they need"
    was = "was" if len(blocked) == 1 else "were"
    return f"{_steps(blocked).capitalize()} {was} not started, since {need} what failed."


def _steps(indices: Sequence[int]) -> str:
    """ "steps 1, 2 and 4" for the indices 0, 1 and 3."""
    numbers = [str(index + 1) for index in indices]
    if len(numbers) == 1:
        return f"step {numbers[0]}"
    return f"steps {', '.join(numbers[:-1])} and {numbers[-1]}"


def summary(
    plan: Plan,
    verified: str,
    changes: Sequence[Change],
    seconds: float,
    usage: Usage,
    left: Sequence[str] = (),
    written: Sequence[str] = (),
) -> str:
    """To the user: the summary of a workflow. ``verified`` is what was read back, ``left`` what
    still fails, and ``written`` the files that its actions wrote."""
    ran = [
        each.description
        for each in plan.steps
        if each.action is not None and each.status == "completed"
    ]
    changed = _changed(changes, written)
    done = sum(step.status == "completed" for step in plan.steps)
    skipped = [n for n, each in enumerate(plan.steps) if each.status == "skipped"]
    blocked = plan.blocked()
    lines = [
        f"**{done} of {_count(len(plan.steps), 'step')} done** in {_time(seconds)}"
        + (f", {usage.total_tokens:,} tokens" if usage.total_tokens else ", without a model"),
        *([f"- You ran: {'; '.join(ran)}"] if ran else []),
        # Only an action's own result says what it does outside of notebooks and files.
        *([f"- Changed: {changed or 'nothing'}"] if changed or not ran else []),
        f"- Verified: {verified}",
        *([f"- You skipped {_steps(skipped)}."] if skipped else []),
        *(
            [f"- Not started, since it needs what was skipped: {_steps(blocked)}."]
            if blocked
            else []
        ),
        *(f"- {each}" for each in left),
    ]
    return "\n".join(lines)


def still_shows(name: str, path: str | None, error: str, *, earlier: bool) -> str:
    """To the user: a cell ("cell 3") that the workflow ran still shows an error at its end."""
    where = f" in {path}" if path else ""
    where += " of an earlier attempt" if earlier else ""
    return f"{name.capitalize()}{where} still shows {error}."


def no_data(became: str, there: Sequence[str]) -> str:
    """To the user, before the summary: a workflow that reads data found none."""
    if not there:
        return f"**No data file was found, so {became}.**"
    names = ", ".join(there[:MOST_NAMED]) + (", …" if len(there) > MOST_NAMED else "")
    return f"**No data file was chosen, so {became}.** There are: {names}. Name one in the message."


ACTIONS_OFFERED = "Nothing was started. These need no model:"


def offered_actions(offers: Sequence[ActionOffer]) -> str:
    """To the user: actions that are close; Markdown."""
    return "\n".join([ACTIONS_OFFERED, *(f"- {each.title}: `{each.message}`" for each in offers)])


def nothing_close(names: Sequence[str]) -> str:
    """To the user: no workflow matches."""
    return (
        f"No workflow is close to this. Without a model there are: {', '.join(names)}; error "
        "fixes, and what `/help` lists."
    )


def offered(offers: Sequence[WorkflowOffer]) -> str:
    """To the user: close workflows, and how to run them; Markdown."""
    return "\n".join(
        [
            "Nothing was started. A similar workflow that needs no model:",
            "",
            *map(_offer_line, offers),
        ]
    )


def _offer_line(each: WorkflowOffer) -> str:
    known = ", ".join(f"{name} `{value}`" for name, value in each.parameters.items())
    needs = f" It needs: {', '.join(each.missing)}." if each.missing else ""
    how = f" To run it, send: `{each.say}`" if each.say else ""
    return f"- **{each.name}**{f' with {known}' if known else ''}. {each.description}{needs}{how}"


def ask_for(name: str, parameters: Mapping[str, Any]) -> str:
    """The message that asks for a workflow by its name, with its parameters."""
    said = [name]
    for parameter, value in parameters.items():
        if parameter in ("data", "notebook"):
            said.append(str(value))  # a file is known by its name
        else:
            words = re.sub("([A-Z])", r" \1", parameter).lower()
            said.append(f'{words}: "{value}"')
    return ", ".join(said)


def _changed(changes: Sequence[Change], written: Sequence[str]) -> str:
    """Counts each cell and block once, by its final state, and names files."""
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
    said += [f"wrote {path}" for path in dict.fromkeys(written)]
    for keys, word in ((added, "added"), (changed, "changed"), (deleted, "deleted")):
        counted = Counter(noun(path) for path, _ in keys)
        said += [f"{_count(number, part)} {word}" for part, number in counted.items()]
    return ", ".join(said)


def _sentence(text: str) -> str:
    """The text with a full stop at the end."""
    return text if text.rstrip().endswith((".", "!", "?")) else f"{text.rstrip()}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _time(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"

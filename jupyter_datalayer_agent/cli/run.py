"""``run``: a task on a notebook, with a user if there is a terminal."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

from ..protocol.approval_text import approval_parts, visible
from ..protocol.turn_view import ENDS, TurnView, asks
from .failure import CommandFailed
from .server import AgentServer, server_for
from .terminal import ABSENT, NOBODY, Progress, Terminal

# An action that was proposed, at the terminal: shown, filled in, and run or not by the user.


MOST_ROUNDS = 40
"""Of questions: a wizard asks at most 20."""
NOT_RUN = "Nobody is at the terminal: it was not run. Add --yes to run such actions."


class ProposedAction:
    """A proposal, and the values for it. Secrets are in the values alone: they are not shown.

    ``run``: the user said beforehand that it is to be run (``--yes``).
    """

    def __init__(
        self, server: AgentServer, terminal: Terminal, proposal: dict[str, Any], *, run: bool
    ) -> None:
        self._server = server
        self._terminal = terminal
        self._proposal = proposal
        self._run = run
        self.values: dict[str, Any] = {
            each["name"]: each["value"]
            for each in proposal["parameters"]
            if each["found"] and not each["secret"]
        }

    def decide(self, *, may_skip: bool = False) -> str:
        """``run``, with the ``values``; ``skip`` or ``stop``."""
        if not self._terminal.interactive and not (self._run and self._proposal["complete"]):
            missing = self._missing()
            self._terminal.line(f"! {self._proposal['title']}. {missing or NOT_RUN}")
            return "stop"
        if self._run and self._proposal["complete"]:
            return "run"
        keys = f"[y]es, [e]dit, {'[s]kip, ' if may_skip else ''}[N]o"
        for _ in range(MOST_ROUNDS):
            self._terminal.show(self._text())
            answer = self._terminal.choose(f"Run it? {keys}:")
            if answer == "s" and may_skip:
                return "skip"
            if answer not in ("y", "e"):
                return "stop"
            is_filled = self._fill(edit=answer == "e")
            if is_filled and answer == "y" and self._proposal["complete"]:
                return "run"
        return "stop"

    def _text(self) -> str:
        """What would be done, with which values, and what of them is not known."""
        lines = [f"{self._proposal['title']}"]
        for each in self._proposal["parameters"]:
            if each["secret"]:
                known = "given, not shown" if each["name"] in self.values else "not given"
            else:
                known = _shown(each) if each["found"] else "not known"
            needed = "" if each["found"] or not each["required"] else ", needed"
            source = f" (from {each['source']})" if each.get("source") else ""
            lines.append(f"  {each['title']}: {known}{source}{needed}")
            if each.get("problem"):
                lines.append(f"    {each['problem']}")
        if self._proposal["complete"] and self._proposal.get("destroys"):
            lines.append(f"  ! {self._proposal['destroys']}")
        elif not self._proposal["complete"] and not self._missing():
            lines.append(f"  {self._proposal['description']}")
        return "\n".join(lines)

    def _missing(self) -> str:
        open_ones = [
            each["title"]
            for each in self._proposal["parameters"]
            if each["required"] and not each["found"]
        ]
        return f"Required: {', '.join(open_ones)}." if open_ones else ""

    def _fill(self, *, edit: bool) -> bool:
        """Ask for what is needed, or with ``edit`` for everything; a wizard's next questions, too.
        Whether all of it was answered."""
        for _ in range(MOST_ROUNDS):
            asked = [
                each
                for each in self._proposal["parameters"]
                if edit or (each["required"] and not each["found"])
            ]
            if not asked:
                return True
            for each in asked:
                if not self._ask(each):
                    return False
            edit = False
            self._check()
            if any(each.get("problem") for each in self._proposal["parameters"]):
                return False
        return False

    def _ask(self, parameter: dict[str, Any]) -> bool:
        """Ask for one value; False where a value that is needed was not given. Nothing typed keeps
        the value that there is."""
        name, schema = parameter["name"], parameter["schema"]
        if parameter["secret"]:
            given: Any = self._terminal.secret(parameter["title"])
        else:
            now = f" [{_shown(parameter)}]" if parameter["found"] else ""
            options = _titles(schema)
            typed = self._terminal.text(f"{parameter['title']}{now}:", options or None)
            given = _value(typed, schema) if typed else ""
        if given != "":
            self.values[name] = given
        return name in self.values or not parameter["required"]

    def _check(self) -> None:
        """What is wrong with the values, and what is needed beside them."""
        route = f"services/{self._proposal['service']}/actions/{self._proposal['action']}/dry-run"
        body = {"parameters": self.values, "activeNotebook": self._proposal.get("notebook")}
        found = self._server.post(route, body)
        self._proposal = {**found, "proposalId": self._proposal["proposalId"]}


def _shown(parameter: dict[str, Any]) -> str:
    return str(parameter.get("display") or parameter["value"])


def _titles(schema: dict[str, Any]) -> list[str]:
    choices = schema.get("oneOf") or (schema.get("items") or {}).get("oneOf") or ()
    return [str(each["title"]) for each in choices]


def _value(text: str, schema: dict[str, Any]) -> Any:
    """What was typed, as the schema has it; what is none is given as it is, and refused."""
    if schema.get("type") == "array":
        items = schema.get("items") or {}
        return [_value(each.strip(), items) for each in text.split(",") if each.strip()]
    for each in schema.get("oneOf", ()):
        if text.lower() in (str(each["title"]).lower(), str(each["const"]).lower()):
            return each["const"]
    if schema.get("type") == "boolean":
        known = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
        return known.get(text.lower(), text)
    if schema.get("type") in ("integer", "number"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


HOW_TO_RUN = "To run it, add --yes, or answer in a terminal."


def run(given: argparse.Namespace) -> int:
    """Carry out the task; 0 when it was completed."""
    if given.synthesise:
        raise CommandFailed("--synthesise is for the answers of several models: add --compare.")
    file = notebook_of(given)
    created = file is not None and not file.exists()
    with server_for(file.parent if file is not None else Path()) as server:
        path = server.path(file) if file is not None else None
        if created and given.template is None:
            done = server.post("tools/createNotebook", {"arguments": {"name": path}})
            if not done["ok"]:
                raise CommandFailed(done["error"]["message"], 1)
        turn = TurnOutput(server, Progress(quiet=given.json), runs_actions=given.yes)
        body = request(given, path, exists=not created or given.template is None)
        body["runsActions"] = given.yes or turn.terminal.interactive
        status = turn.follow(body)
        if turn.view.proposal is not None:
            status = turn.follow_proposal(body)
        reply = {**turn.reply(), "offers": turn.view.offers}
    if given.json:
        print(json.dumps(reply, ensure_ascii=False, indent=2))
    elif reply["reply"]:
        if (missed := reply.get("notDone")) is not None:
            print(f"{missed['message']}\n")
        print(reply["reply"])
        if (facts := reply.get("facts")) is not None:
            print(f"\n{facts['message']}")
        for each in turn.view.offers:
            # An existing notebook is not overwritten.
            beside = file or Path("here.ipynb")
            into = given.notebook if created else str(beside.with_name(f"{each['id']}.ipynb"))
            print(f"\n    {run_offer(each, into)}")
        if status == "proposed":
            print(HOW_TO_RUN)
    return 0 if status == "completed" else 1


def notebook_of(given: argparse.Namespace) -> Path | None:
    """The notebook's file; None for a slash command without one. Raises ``CommandFailed``."""
    if given.notebook is None:
        if given.task.lstrip().startswith("/") and given.template is None and not given.plan:
            return None
        raise CommandFailed("Name a notebook, too. Only a /command (/help, /data …) needs none.")
    file = Path(given.notebook)
    if file.suffix != ".ipynb":
        raise CommandFailed(f"{file} is not the name of a notebook (.ipynb).")
    if not file.parent.is_dir():
        raise CommandFailed(f"There is no folder {file.parent}.")
    return file


def request(given: argparse.Namespace, path: str | None, *, exists: bool) -> dict[str, Any]:
    """The ``ChatRequest`` of the command."""
    exists = exists and path is not None
    body: dict[str, Any] = {
        "message": f"agent: {given.task}" if given.plan else given.task,
        "mode": given.mode or "agent",
        "location": "api",
        "activeNotebook": path if exists else None,
        "attachments": [{"kind": "notebook", "path": path}] if exists else [],
    }
    for name in ("model", "approval"):
        if getattr(given, name) is not None:
            body[name] = getattr(given, name)
    if given.template is not None:
        parameters = {"notebook": path, **parameters_of(given.param)}
        body["workflow"] = {"id": given.template, "parameters": parameters}
    elif given.param:
        raise CommandFailed("--param is for a --template.")
    return body


def parameters_of(pairs: list[str]) -> dict[str, Any]:
    """``NAME=VALUE`` pairs; a value that is JSON (a number, true, a list) is taken as such."""
    parameters: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise CommandFailed(f"--param {pair!r}: write it as NAME=VALUE.")
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = value
        parameters[name] = parsed if isinstance(parsed, bool | int | float | list) else value
    return parameters


def run_offer(offer: dict[str, Any], notebook: str) -> str:
    """The command that runs an offered workflow; ``…`` marks missing parameters."""
    given = dict(offer["parameters"])
    command = ["jupyter", "datalayer-agent", "run", offer["name"]]
    command += [given.pop("notebook", notebook), "--template", offer["id"]]
    for name, value in {**given, **dict.fromkeys(offer["missing"], "…")}.items():
        command += ["--param", f"{name}={value}"]
    return shlex.join(command)


class TurnOutput:
    """One turn, followed to its end. ``runs_actions``: actions are run without asking."""

    def __init__(
        self,
        server: AgentServer,
        progress: Progress,
        *,
        interactive: bool = True,
        runs_actions: bool = False,
    ) -> None:
        self._server = server
        self._progress = progress
        self._runs_actions = runs_actions
        self._session = ""
        self._seq = 0
        self.view = TurnView()
        self.terminal = Terminal(progress, interactive=interactive)

    def follow(self, body: dict[str, Any]) -> str:
        """Send the message and answer questions; returns how the turn ended."""
        request = {**body, "canAnswer": self.terminal.interactive}
        self.view = TurnView()
        for event in self._server.stream("chat/stream", request):
            if event["type"] == "session":
                self._session = event["sessionId"]
                continue
            self._seq = event["seq"]
            self._progress.take(self.view, event)
            if asks(event):
                self._answer(event)
            if event["type"] in ENDS:
                break
        self._progress.clear()
        return str(self.reply()["status"])

    def synthesise(self, model: str) -> dict[str, Any]:
        """Have a model write where the answers agree and differ; how that ended. Raises
        ``CommandFailed`` where it is refused."""
        op = {"type": "synthesise", "turnId": self.view.turn_id, "model": model}
        self._server.post(f"sessions/{self._session}/ops", op)
        route = f"sessions/{self._session}/events?after={self._seq}"
        for event in self._server.stream(route):
            if event["type"] == "answer_finished":
                self._progress.clear()
                return event
            if event["type"] == "error":
                raise CommandFailed(event["message"], 1)
            self._progress.take(self.view, event)
        raise CommandFailed("The server ended the connection before the synthesis.", 1)

    def follow_proposal(self, body: dict[str, Any]) -> str:
        """Run the action that was proposed, with the user's consent; how that turn ended, or
        "proposed" where it was not run."""
        proposal = self.view.proposal
        assert proposal is not None
        proposed = self._proposed(proposal)
        if proposed.decide() != "run":
            return "proposed"
        action = {"service": proposal["service"], "action": proposal["action"]}
        action |= {"parameters": proposed.values, "proposalId": proposal["proposalId"]}
        return self.follow(
            {**body, "message": proposal["title"], "sessionId": self._session, "action": action}
        )

    def reply(self) -> dict[str, Any]:
        """The turn as stored."""
        if not self.view.turn_id:
            raise CommandFailed("The server ended the connection before the turn began.", 1)
        turns = self._server.get(f"sessions/{self._session}/turns", limit="1")["turns"]
        return dict(turns[-1])

    def _answer(self, event: dict[str, Any]) -> None:
        """Answer an event that asks."""
        kind, terminal = event["type"], self.terminal
        if kind == "approval_requested":
            parts = [f"{part}\n" for part in approval_parts(event)]
            asked = visible(f"{event['name']}: {event['reason']}. Allow it?")
            approved = terminal.confirm("\n".join([*parts, asked]))
            op: dict[str, Any] = {"type": "approval_decision", "approvalId": event["approvalId"]}
            op |= (
                {"decision": "approve"}
                if approved
                else {"decision": "deny", "unanswered": None if terminal.interactive else NOBODY}
            )
        elif kind == "user_input_requested":
            op = {"type": "user_input_answer", "requestId": event["requestId"]}
            answer = terminal.text(event["question"], event.get("options"))
            op |= {"answer": answer} if answer is not None else {"unanswered": ABSENT}
        elif event["state"] == "waiting" and self.view.proposal is not None:
            op = self._act(self.view.proposal)
            self.view.proposal = None  # it is the plan's: the turn does not end with it
        elif event["state"] == "waiting":
            return
        else:
            approved = terminal.confirm("Run this plan?")
            op = {"type": "plan_decision", "decision": "approve" if approved else "reject"}
        self._server.post(f"sessions/{self._session}/ops", op)

    def _proposed(self, proposal: dict[str, Any]) -> ProposedAction:
        return ProposedAction(self._server, self.terminal, proposal, run=self._runs_actions)

    def _act(self, proposal: dict[str, Any]) -> dict[str, Any]:
        """What the user decides on the action of a plan's step."""
        proposed = self._proposed(proposal)
        decided = proposed.decide(may_skip=True)
        if decided == "run":
            run = {"type": "run_action", "proposalId": proposal["proposalId"]}
            return {**run, "parameters": proposed.values}
        return {"type": "plan_decision", "decision": "skip" if decided == "skip" else "reject"}

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
from .progress import Progress
from .proposal import ProposedAction
from .server import AgentServer, server_for
from .terminal import ABSENT, NOBODY, Terminal

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

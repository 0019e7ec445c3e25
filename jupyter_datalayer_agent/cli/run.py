"""``run``: a task on a notebook, with a user if there is a terminal."""

from __future__ import annotations

import argparse
import getpass
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from .failure import CommandFailed
from .progress import Progress
from .server import AgentServer, server_for

ENDS = ("turn_completed", "turn_aborted")
NOBODY = "Nobody is at the terminal. Allow it with --approval never."


def run(given: argparse.Namespace) -> int:
    """Carry out the task; 0 when it was completed."""
    file = Path(given.notebook)
    if file.suffix != ".ipynb":
        raise CommandFailed(f"{file} is not the name of a notebook (.ipynb).")
    if not file.parent.is_dir():
        raise CommandFailed(f"There is no folder {file.parent}.")
    with server_for(file.parent) as server:
        path = server.path(file)
        created = not file.exists()
        if created and given.template is None:
            done = server.post("tools/createNotebook", {"arguments": {"name": path}})
            if not done["ok"]:
                raise CommandFailed(done["error"]["message"], 1)
        turn = TurnOutput(server, Progress(quiet=given.json))
        body = request(given, path, exists=not created or given.template is None)
        status = turn.follow(body)
        if turn.proposal is not None:
            status = turn.follow_proposal(body, run=given.yes)
        reply = {**turn.reply(), "offers": turn.offers}
    if given.json:
        print(json.dumps(reply, ensure_ascii=False, indent=2))
    elif reply["reply"]:
        if (missed := reply.get("notDone")) is not None:
            print(f"{missed['message']}\n")
        print(reply["reply"])
        for each in turn.offers:
            # An existing notebook is not overwritten.
            into = given.notebook if created else str(file.with_name(f"{each['id']}.ipynb"))
            print(f"\n    {run_offer(each, into)}")
    return 0 if status == "completed" else 1


def request(given: argparse.Namespace, path: str, *, exists: bool) -> dict[str, Any]:
    """The ``ChatRequest`` of the command."""
    body: dict[str, Any] = {
        "message": f"agent: {given.task}" if given.plan else given.task,
        "mode": given.mode,
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


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


class TurnOutput:
    """One turn, followed to its end."""

    def __init__(
        self, server: AgentServer, progress: Progress, *, interactive: bool = True
    ) -> None:
        self._server = server
        self._progress = progress
        self._session = ""
        self._turn = ""
        self.offers: list[dict[str, Any]] = []
        self.proposal: dict[str, Any] | None = None
        self.interactive = interactive and sys.stdin.isatty() and sys.stderr.isatty()

    def follow(self, body: dict[str, Any]) -> str:
        """Send the message and answer questions; returns how the turn ended."""
        for event in self._server.stream("chat/stream", body):
            if event["type"] == "session":
                self._session = event["sessionId"]
                continue
            self._turn = event.get("turnId") or self._turn
            self._progress.take(event)
            self._answer(event)
            if event["type"] == "workflows_offered":
                self.offers = event["offers"]
            elif event["type"] == "action_proposed":
                self.proposal = event
            if event["type"] in ENDS:
                break
        self._progress.clear()
        return str(self.reply()["status"])

    def follow_proposal(self, body: dict[str, Any], *, run: bool) -> str:
        """Run the action that was proposed, with the user's consent; how that turn ended, or
        "proposed" where it was not run. What is missing is asked at the terminal."""
        proposal = self.proposal
        assert proposal is not None
        if not run and not self.interactive:
            return "proposed"
        values = {}
        for each in proposal["parameters"]:
            if each["found"]:
                values[each["name"]] = each["value"]
            elif each["required"]:
                if not self.interactive:
                    return "proposed"
                values[each["name"]] = self._value(each)
        if not run and not self._ask(f"{proposal['title']}: {_listed(values)}. Run it?"):
            return "proposed"
        action = {"service": proposal["service"], "action": proposal["action"]}
        action |= {"parameters": values, "proposalId": proposal["proposalId"]}
        return self.follow(
            {**body, "message": proposal["title"], "sessionId": self._session, "action": action}
        )

    def _value(self, parameter: dict[str, Any]) -> Any:
        schema = parameter["schema"]
        choices = {str(each["title"]): each["const"] for each in schema.get("oneOf", ())}
        if parameter["secret"]:
            return getpass.getpass(f"{parameter['title']}: ")
        text = self._input(parameter["title"], list(choices) or None)
        if schema.get("type") in ("integer", "number"):
            try:
                return int(text) if schema["type"] == "integer" else float(text)
            except ValueError:
                return text
        if schema.get("type") == "boolean":
            return text.lower() in ("y", "yes", "true")
        return choices.get(text, text)

    def reply(self) -> dict[str, Any]:
        """The turn as stored."""
        if not self._turn:
            raise CommandFailed("The server ended the connection before the turn began.", 1)
        turns = self._server.get(f"sessions/{self._session}/turns", limit="1")["turns"]
        return dict(turns[-1])

    def _answer(self, event: dict[str, Any]) -> None:
        kind = event["type"]
        if kind == "approval_requested":
            approved = self._ask(f"{event['name']}: {event['reason']}. Allow it?")
            op: dict[str, Any] = {"type": "approval_decision", "approvalId": event["approvalId"]}
            op |= (
                {"decision": "approve"}
                if approved
                else {"decision": "deny", "feedback": self._why()}
            )
        elif kind == "user_input_requested":
            op = {"type": "user_input_answer", "requestId": event["requestId"]}
            op["answer"] = self._input(event["question"], event.get("options"))
        elif kind == "plan_updated" and event.get("state") in ("proposed", "paused"):
            approved = self._ask("Run this plan?")
            op = {"type": "plan_decision", "decision": "approve" if approved else "reject"}
        else:
            return
        self._server.post(f"sessions/{self._session}/ops", op)

    def _why(self) -> str | None:
        return None if self.interactive else NOBODY

    def _ask(self, question: str) -> bool:
        if not self.interactive:
            self._progress.line(f"! {question} {NOBODY}")
            return False
        self._progress.clear()
        print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def _input(self, question: str, options: list[str] | None) -> str:
        choices = f" ({', '.join(options)})" if options else ""
        if not self.interactive:
            self._progress.line(f"! {question}{choices} Nobody is at the terminal to answer.")
            return "No one is available to answer. Decide with what you know."
        self._progress.clear()
        print(f"{question}{choices} ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip()

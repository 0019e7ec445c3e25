"""An action that was proposed, at the terminal: shown, filled in, and run or not by the user."""

from __future__ import annotations

import json
from typing import Any

from .server import AgentServer
from .terminal import Terminal

MOST_ROUNDS = 40
"""Of questions: a wizard asks at most 20."""
NOBODY = "Nobody is at the terminal: it was not run. Add --yes to run such actions."


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
            self._terminal.line(f"! {self._proposal['title']}. {missing or NOBODY}")
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

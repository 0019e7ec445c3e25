"""Services, their actions, and what a message is understood to ask of them (DESIGN 11)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .base import Wire

IntentDetection = Literal["off", "commands", "auto"]
ActionStatus = Literal["ok", "error", "cancelled"]


class ActionInfo(Wire):
    """An action of a service. ``parameters`` is the JSON schema of its form; ``wizard``: its
    questions depend on earlier answers, so a dry run says which come next."""

    id: str
    title: str
    description: str
    parameters: dict[str, Any]
    destructive: bool = False
    wizard: bool = False


class ServiceLink(Wire):
    """A page where more is said."""

    title: str
    url: str


class ServiceInfo(Wire):
    """A service: a slash command with what the agent knows and can do behind it.

    ``installed``: its actions can be run; else ``install`` says what to install for it.
    """

    id: str
    name: str
    description: str
    examples: list[str]
    topics: list[str] = []
    links: list[ServiceLink] = []
    actions: list[ActionInfo] = []
    installed: bool = True
    install: str | None = None


class ServicesReply(Wire):
    """Answer of ``GET services``. ``problems``: a line for each service of another package that
    could not be added, and why."""

    services: list[ServiceInfo]
    problems: list[str] = []


class Intent(Wire):
    """A service, and what of it: ``learn``, ``brainstorm`` or the id of an action. Without a
    service the message is an ordinary one. ``confidence`` is between 0 and 1."""

    service: str | None = None
    subcommand: str | None = None
    confidence: float = 0


class ActionOffer(Wire):
    """Something that a message may ask for: it is chosen by sending the message again with this
    ``service`` and ``subcommand`` as ``ChatRequest.intent``. ``message`` is a message that asks for
    it and says nothing else."""

    service: str
    subcommand: str
    title: str
    description: str
    message: str


class IntentChoice(Wire):
    """What the user says that a message asks for; without a service an ordinary message."""

    service: str | None = None
    subcommand: str | None = None


class IntentRequest(Wire):
    """Body of ``POST intent``."""

    message: str
    session_id: str | None = None


class IntentReply(Intent):
    """What a message is understood to ask for; ``how`` that was found out."""

    alternatives: list[Intent] = []
    how: Literal["command", "ranking", "model", "chosen"] = "ranking"


class ActionParameter(Wire):
    """A parameter of a proposal. ``source`` is the text that the value was taken from;
    ``display`` the value for a user. ``schema`` is what a form needs: type, options, default.
    A ``secret`` never has a value. ``problem`` says why a value that was given is none."""

    name: str
    title: str
    value: Any = None
    display: str | None = None
    source: str | None = None
    found: bool
    required: bool
    secret: bool = False
    problem: str | None = None
    form: dict[str, Any] = Field(default={}, alias="schema")


class ActionProposal(Wire):
    """What an action would be run with, on the ``notebook`` that was active; nothing has been run.
    ``complete``: all that it requires is found. ``destroys`` says what a destructive one would
    destroy."""

    proposal_id: str
    service: str
    action: str
    title: str
    description: str = ""
    parameters: list[ActionParameter]
    complete: bool
    destructive: bool
    destroys: str | None = None
    wizard: bool = False
    notebook: str | None = None


class DryRunRequest(Wire):
    """Body of ``POST services/{id}/actions/{action}/dry-run``. ``parameters`` are the values that
    are known; ``message`` is read for the others."""

    message: str = ""
    parameters: dict[str, Any] = {}
    active_notebook: str | None = None
    session_id: str | None = None
    client_id: str | None = None


class ActionRunRequest(Wire):
    """Body of ``POST services/{id}/actions/{action}/run``; answered with a ``ChatReply`` at its
    end. Without a session one is made."""

    parameters: dict[str, Any] = {}
    active_notebook: str | None = None
    session_id: str | None = None
    client_id: str | None = None


class ActionCall(Wire):
    """An action that the user runs, with the values of its form."""

    service: str
    action: str
    parameters: dict[str, Any] = {}
    proposal_id: str | None = None


class HelpTopic(Wire):
    """A line of ``/help``. ``message`` is an example that can be sent as it is."""

    title: str
    description: str
    message: str


class ServiceHelp(Wire):
    """A service in ``/help``: one example of it, or with ``/help <service>`` all of them."""

    id: str
    name: str
    description: str
    topics: list[HelpTopic]
    installed: bool = True
    install: str | None = None

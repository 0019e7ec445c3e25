"""MCP servers whose tools the agent uses, as the panel shows and changes them.

Values of environments and headers only come in: a reply has their names.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SecretStr, model_validator
from typing_extensions import Self

from .base import Wire

# Forms that an MCP server asks the user to fill in during a call (elicitation).


FormAction = Literal["accept", "decline", "cancel"]
"""What the user does with it: answers, refuses to answer, or decides nothing."""


class InputForm(Wire):
    """What the MCP server ``server`` asks, as a flat JSON schema: ``properties`` that are texts,
    numbers, yes or no, one or several choices (each a ``oneOf`` of ``const`` and ``title``), and
    the names of those that are ``required``. All texts in it are the server's: untrusted."""

    server: str
    fields: dict[str, Any] = Field(alias="schema")


class FormAnswer(Wire):
    """The user's answer; ``values`` by the names of the fields, without those left empty."""

    action: FormAction
    values: dict[str, Any] = {}


McpTrust = Literal["ask", "call", "read"]
"""``ask`` before each call, ``call`` in Agent mode without asking, ``read`` in every mode."""
McpServerState = Literal["stopped", "starting", "running", "failed"]
McpSignIn = Literal["needed", "waiting", "done"]
"""The server wants the user to sign in, the user's browser is doing it, or it was done."""


class McpTool(Wire):
    """A tool of a server. ``name`` is the server's, ``model_name`` what a model is sent.

    ``has_changed``: it was trusted, and is another one since. ``says_it_reads`` is the server's own
    claim."""

    name: str
    title: str
    model_name: str | None = None
    description: str
    enabled: bool
    trust: McpTrust
    has_changed: bool = False
    says_it_reads: bool = False


class McpServerInfo(Wire):
    """A server. ``command`` and ``args``, or ``url``, are as they are written in ``file``.
    ``client_id`` is that of a program registered by hand, for signing in.
    ``tools`` is None until it has listed them for the first time. ``sign_in`` is None where the
    server has not asked for it; ``sign_in_problem`` is why the last one failed."""

    name: str
    source: Literal["user", "folder"]
    file: str
    command: str | None = None
    args: list[str] = []
    env: list[str] = []
    cwd: str | None = None
    url: str | None = None
    headers: list[str] = []
    client_id: str | None = None
    enabled: bool
    state: McpServerState
    problem: str | None = None
    says_it_is: str | None = None
    sign_in: McpSignIn | None = None
    sign_in_problem: str | None = None
    tools: list[McpTool] | None = None


class McpFolderServer(Wire):
    """What a server of the folder's file would start, or where it is; the variables that are set
    for it, and those of the Jupyter server's environment that it ``reads``."""

    name: str
    command: str | None = None
    args: list[str] = []
    url: str | None = None
    sets: list[str] = []
    reads: list[str] = []


class McpFolderFile(Wire):
    """The file of the server root. Its servers count only while it is ``allowed``, which holds for
    the content with ``content_hash`` alone; ``has_changed``: it was allowed with another."""

    path: str
    content_hash: str
    servers: list[McpFolderServer]
    allowed: bool
    has_changed: bool


class McpServersReply(Wire):
    """Answer of ``GET mcp-servers``. ``problems`` name a file, a line, and what to do. ``locked``
    is the reason why MCP servers are not used here. With ``is_searched``, a model is not sent the
    tools themselves, and searches them."""

    servers: list[McpServerInfo]
    problems: list[str]
    folder: McpFolderFile | None = None
    user_file: str
    is_searched: bool = False
    locked: str | None = None


class McpServerDefinition(Wire):
    """Body of ``PUT mcp-servers/{name}``: a command or a URL. A value of ``env`` or ``headers``
    that is None stays as it is in the file."""

    command: str | None = Field(default=None, max_length=4_000)
    args: list[str] = Field(default=[], max_length=200)
    env: dict[str, SecretStr | None] = Field(default={}, max_length=100)
    cwd: str | None = Field(default=None, max_length=4_000)
    url: str | None = Field(default=None, max_length=4_000)
    headers: dict[str, SecretStr | None] = Field(default={}, max_length=100)
    client_id: str | None = Field(default=None, max_length=500)

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either a command or a URL")
        return self


class McpTestRequest(McpServerDefinition):
    """Body of ``POST mcp-servers``: a server to try, under its name."""

    name: str


class McpTestReply(Wire):
    """Whether the server works, in a sentence, with its tools' names."""

    ok: bool
    message: str
    tools: list[str] = []


class McpToolSetting(Wire):
    """What changes of a tool; what is None stays."""

    enabled: bool | None = None
    trust: McpTrust | None = None


class McpServerPatch(Wire):
    """Body of ``PATCH mcp-servers/{name}``: ``tools`` by their names, ``trust`` of all tools that
    the server has now."""

    enabled: bool | None = None
    tools: dict[str, McpToolSetting] = {}
    trust: McpTrust | None = None


class McpSignInRequest(Wire):
    """Body of ``POST mcp-servers/{name}/sign-in``: the page's own origin, to which the browser
    comes back, and whether the tokens may be kept in a file where there is no keyring.
    ``client_secret`` belongs to the server's ``client_id``, and is kept with the tokens; left out,
    the one that is kept is used, or none."""

    origin: str = Field(max_length=1_000)
    keep_in_file: bool = False
    client_secret: SecretStr | None = Field(default=None, max_length=2_000)


class McpSignInReply(Wire):
    """The address to open in the browser; or, where the tokens could only be kept in a file that
    the user alone can read, ``file`` and why: the user has to agree first."""

    address: str | None = None
    file: str | None = None
    keyring_problem: str | None = None


class McpLogReply(Wire):
    """The newest lines of a server's log, without secrets."""

    lines: list[str]

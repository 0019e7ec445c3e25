"""The magics ``%agent`` and ``%%agent``, and loading them."""

from __future__ import annotations

import contextvars
import functools
import threading
import time
from collections.abc import Callable
from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from .answer import (
    MagicTurn,
    Output,
    has_live_frontend,
    interval_for,
    is_kernel,
    output_for,
    printable,
)
from .commands import HELP, Commands, Completer, Options, parse
from .question import filled, forget_questions, keep_questions
from .server import AgentMagicError, Refused, Server, ServerGone, environment_server, find_server

WOULD_DEADLOCK = (
    "--wait would hold this kernel, which the agent needs to run its cells: neither would end. "
    "Leave --wait out (the output goes on changing), or use --mode ask or edit."
)
BEHIND_ANOTHER = (
    "An earlier message is still running, and may need this kernel: waiting for it here would "
    "never end. Leave {option} out (it is answered after that one), stop it (%agent stop), or "
    "ask in another session (--session new)."
)
QUIET_SECONDS = 0.5
CODE_ONLY = "\n\nAnswer with code only, in one fenced block."


class Reply(str):
    """The last answer as text, with attributes of its turn."""

    __slots__ = ("changes", "session_id", "status", "turn_id")
    session_id: str
    turn_id: str
    status: str
    changes: list[dict[str, Any]]


@magics_class
class AgentMagics(Magics):  # type: ignore[misc,unused-ignore]
    """The magic and the session of its kernel."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._server: Server | None = None
        self._session_id: str | None = None
        self._background: list[MagicTurn] = []
        self.completer = Completer(self.server)

    def server(self) -> Server:
        """The kernel's server, found once."""
        if self._server is None:
            self._server = find_server()
        return self._server

    @no_var_expand
    @line_cell_magic
    def agent(self, line: str, cell: str | None = None) -> None:
        """Talk to the agent. (The text of ``%agent?`` is set below.)"""
        options = parse(line, cell)
        try:
            if options.command is not None:
                print(printable(Commands(self.server, self._session_id).run(options.command)))
            else:
                self._ask(options)
        except (ServerGone, Refused) as error:
            self._server = None  # searched again next time
            # The page recognises by this name that the error is not in the cell's code.
            raise AgentMagicError(str(error)) from error

    agent.__doc__ = f"Talk to the agent.\n\n{HELP}\n"

    def _ask(self, options: Options) -> None:
        shell = self.shell
        # The agent cannot run cells with any other kernel.
        holds = is_kernel(shell) and has_live_frontend(shell)
        server = self.server()
        if options.wait and options.changes and holds and _is_notebook(server):
            raise AgentMagicError(WOULD_DEADLOCK)
        if options.model is not None:
            _check_model(server, options.model)
        session_id = self._conversation(server, options.session)
        busy = holds and self._is_busy(session_id)
        if busy and not options.changes and (options.wait or options.out):
            raise AgentMagicError(
                BEHIND_ANOTHER.format(option="--wait" if options.wait else "--out")
            )
        turn = MagicTurn.begin(server, session_id, self._request(options))
        self._session_id = session_id
        output = output_for(shell, options.format)
        if holds and not options.wait and (options.changes or busy):
            self._in_background(turn, output, options)
        else:
            self._and_wait(turn, output, options)

    def _conversation(self, server: Server, wanted: str | None) -> str:
        if wanted is None and self._session_id is not None:
            try:
                server.get(f"sessions/{self._session_id}")
            except Refused as error:
                if error.status != 404:
                    raise
            else:
                return self._session_id
        if wanted is None or wanted == "new":
            return str(server.post("sessions", {})["id"])
        sessions = server.get("sessions", limit="200")["sessions"]
        for key in ("id", "title"):
            found = [each["id"] for each in sessions if each[key] == wanted]
            if found:
                return str(found[0])
        raise AgentMagicError(f"There is no session {wanted!r}. --session new begins one.")

    def _is_busy(self, session_id: str) -> bool:
        self._background = [turn for turn in self._background if not turn.answer.ended]
        if any(turn.session_id == session_id for turn in self._background):
            return True
        return bool(self.server().get(f"sessions/{session_id}").get("runningTurnId"))

    def _request(self, options: Options) -> dict[str, Any]:
        message, unknown = filled(options.prompt, self.shell.user_ns)
        for name in unknown:
            print(f"{{{name}}}: no such variable, sent as it is.")
        request: dict[str, Any] = {
            "message": message + (CODE_ONLY if options.format == "code" else ""),
            "mode": options.mode,
            "location": "magic",
            "attachments": [
                {"kind": "notebook" if path.endswith(".ipynb") else "file", "path": path}
                for path in options.attach
            ],
        }
        if options.model is not None:
            request["model"] = options.model
        cell_id = self._cell_id()
        if cell_id is not None:
            request["cellId"] = cell_id
        return request

    def _cell_id(self) -> str | None:
        parent: Any = getattr(self.shell, "get_parent", dict)() or {}
        cell_id = (parent.get("metadata") or {}).get("cellId")
        return cell_id if isinstance(cell_id, str) else None

    def _and_wait(self, turn: MagicTurn, output: Output, options: Options) -> None:
        turn.answer.shows_error = False  # the cell fails with it
        try:
            _show(turn, output, quiet=QUIET_SECONDS)
        except KeyboardInterrupt:
            turn.stop()
            if not turn.answer.ended:
                turn.answer.give_up("Stop was requested, but not confirmed.")
            output.show(turn.answer)
            raise AgentMagicError(turn.answer.error or "Stopped.") from None
        finally:
            self._keep(turn, options)
        if turn.answer.status != "completed":
            raise AgentMagicError(turn.answer.error or "The turn did not finish.")

    def _in_background(self, turn: MagicTurn, output: Output, options: Options) -> None:
        output.show(turn.answer)
        self._background.append(turn)
        keep = functools.partial(self._keep, turn, options)

        def follow() -> None:
            try:
                _show(turn, output, before_end=keep)
            except AgentMagicError as error:
                turn.answer.give_up(str(error))
                keep()
                output.show(turn.answer)

        # In the context of this cell, so that its output belongs to it even if another one runs.
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(follow,), name="%agent", daemon=True).start()

    def _keep(self, turn: MagicTurn, options: Options) -> None:
        answer = turn.answer
        reply = Reply(answer.code() if options.format == "code" else answer.text())
        reply.session_id, reply.turn_id = turn.session_id, answer.turn_id
        reply.status, reply.changes = answer.status, answer.changes
        self.shell.user_ns["_agent"] = reply
        if options.out is not None:
            self.shell.user_ns[options.out] = reply


def _show(
    turn: MagicTurn,
    output: Output,
    quiet: float = 0.0,
    before_end: Callable[[], None] = lambda: None,
) -> None:
    """Show the answer while it grows, less often the longer it is.

    A message that is refused within ``quiet`` seconds shows nothing. ``before_end`` is called
    before the last update: who sees the end of a turn may use its variables at once.
    """
    began = shown = time.monotonic()
    if not quiet:
        output.show(turn.answer)
    for answer in turn.follow(0.05):
        if answer.ended:
            before_end()
        now = time.monotonic()
        is_due = now - shown >= interval_for(answer) and (turn.started or now - began >= quiet)
        if is_due or (answer.ended and not (turn.refused and now - began < quiet)):
            output.show(answer)
            shown = now


def _check_model(server: Server, name: str) -> None:
    """Raises ``AgentMagicError`` for a model that is known to be unavailable."""
    models = server.get("models", model=name)["models"]
    found = next((each for each in models if each["id"] == name), None)
    if found is not None and not found["ready"]:
        raise AgentMagicError(f"--model {name}: {found['reason']}")


def _is_notebook(server: Server) -> bool:
    """Whether the agent may run cells of this kernel's document. A server that does not know the
    kernel takes the message for the notebook that its page shows, which may be this one's."""
    try:
        return bool(server.get("kernel")["isNotebook"])
    except Refused:
        return True


def load(shell: Any) -> None:
    """Register the magic, its completion, and the transformation of prompts that end with "?"."""
    environment_server()  # removes the token from the environment at once
    magics = AgentMagics(shell)
    shell.register_magics(magics)
    for name in ("%agent", "%%agent"):
        shell.set_hook("complete_command", magics.completer, str_key=name)
    keep_questions(shell)


def unload(shell: Any) -> None:
    """Unregister the magic."""
    forget_questions(shell)
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("agent", None)

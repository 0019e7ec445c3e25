"""The base of all handlers: authentication, authorization, and one form for every error."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ensure_async, url_path_join
from pydantic import ValidationError
from tornado import web

from ...agent.asker import Asker
from ...notebook.document import DocumentError
from ...protocol.base import Wire
from ...protocol.errors import HTTP_STATUS, AgentError, ErrorCode
from ...protocol.json_text import parse_json, to_json
from ...protocol.limits import MAX_SEARCHED_CHARACTERS
from ...protocol.ops import UserMessage
from ...protocol.requests import ChatRequest
from ..kernel_access.reach import check_session
from ..kernel_access.tokens import AsKernel, Grant, kernel_of, session_named

if TYPE_CHECKING:
    from .parts import Parts

RESOURCE = "datalayer-agent"
PARTS_KEY = "datalayer_agent_parts"
MAX_NUMBER = 2**53 - 1
"""The largest integer that JSON clients read exactly; it fits a database column."""

Action = Literal["read", "write", "execute"]
Model = TypeVar("Model", bound=Wire)
Method = Callable[..., Awaitable[Wire | dict[str, Any] | None]]

_CODE_OF_STATUS: dict[int, ErrorCode] = {
    400: "invalid_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "invalid_request",
    413: "too_large",
}
_DOCUMENT_CODES: dict[str, ErrorCode] = {
    "not_found": "not_found",
    "not_allowed": "forbidden",
    "internal": "internal",
}


def as_agent_error(error: Exception) -> AgentError | None:
    """An error of ours in the form that callers get, or None."""
    if isinstance(error, AgentError):
        return error
    if isinstance(error, DocumentError):
        code = _DOCUMENT_CODES.get(error.code, "invalid_request")
        hint = f" {error.hint}" if error.hint else ""
        return AgentError(code, f"{error.message}{hint}")
    if isinstance(error, ValidationError):
        return invalid(error)
    return None


def invalid(error: ValidationError) -> AgentError:
    """The error for a request that does not match its model, naming each wrong field."""
    problems = [
        {"field": ".".join(str(part) for part in each["loc"]), "problem": each["msg"]}
        for each in error.errors(include_url=False)
    ]
    listed = "; ".join(f"{each['field'] or 'body'}: {each['problem']}" for each in problems)
    return AgentError("invalid_request", f"The request is not valid: {listed}.", problems)


class Handler(APIHandler):
    """Base of the JSON handlers. Methods are decorated with ``route`` and return a model."""

    auth_resource = RESOURCE
    kernel: Grant | None = None
    """The kernel that sent the request with its own token."""
    needs_plugins = True
    """Whether a request waits until the packages that add to the agent are imported."""

    async def prepare(self) -> None:  # type: ignore[override]
        """Let in kernels by their tokens, everybody else as Jupyter does."""
        base = url_path_join(self.base_url, RESOURCE, "/")
        self.kernel = await kernel_of(self, base)
        await super().prepare()
        if self.kernel is not None and (session := session_named(self, base)) is not None:
            try:
                await check_session(self, session)
            except AgentError as error:
                self.fail(error)
        if self.needs_plugins and not self._finished:
            await self.parts.plugins.ready()

    @property
    def identity_provider(self) -> Any:
        """Jupyter's check, except for a kernel's request."""
        provider = super().identity_provider
        return provider if self.kernel is None else AsKernel(provider, self.kernel)

    def check_xsrf_cookie(self) -> None:
        """Jupyter's check, except for a kernel's request, whose token another site cannot send.

        Identity providers put a check of their own in its place (JupyterHub's does), which knows
        nothing of ``AsKernel``. Before ``prepare``, which calls this again, it is not known whose
        request it is.
        """
        if hasattr(self, "_jupyter_current_user") and self.kernel is None:
            super().check_xsrf_cookie()

    @property
    def parts(self) -> Parts:
        """The server's parts."""
        parts: Parts = self.settings[PARTS_KEY]
        return parts

    @property
    def asker(self) -> Asker:
        """Who sent the request."""
        return self.parts.askers.of(self)

    async def may(self, action: Action) -> bool:
        """Whether the user is authorized for that, in addition to the route's own action."""
        allowed = self.authorizer.is_authorized(self, self.current_user, action, RESOURCE)
        return bool(await ensure_async(allowed))

    def body(self, model: type[Model]) -> Model:
        """The request's body as a model. Raises ``AgentError`` ``invalid_request``."""
        return model.model_validate(self.json_body())

    def json_body(self) -> Any:
        """The request's body, or an empty object. Raises ``AgentError``."""
        try:
            return parse_json(self.request.body or "{}")
        except ValueError as error:
            raise AgentError("invalid_request", f"The body is not valid JSON: {error}.") from error

    def searched(self, name: str) -> str | None:
        """A text of the query that is searched for. Raises ``AgentError`` ``invalid_request``."""
        text = self.get_query_argument(name, None, strip=False)
        if text is not None and len(text) > MAX_SEARCHED_CHARACTERS:
            raise AgentError(
                "invalid_request", f"{name} may have at most {MAX_SEARCHED_CHARACTERS} characters."
            )
        return text

    def number(self, name: str, default: int | None = None) -> int | None:
        """A whole number of the query. Raises ``AgentError`` ``invalid_request``."""
        text = self.get_query_argument(name, "")
        if not text:
            return default
        try:
            number = int(text)
        except ValueError:
            number = None
        if number is None or abs(number) > MAX_NUMBER:
            raise AgentError(
                "invalid_request",
                f"{name} must be a whole number up to {MAX_NUMBER}, not {text[:40]!r}.",
            )
        return number

    async def run_turn(self, request: ChatRequest) -> None:
        """Carry out a message as a turn of the session that it names, or of a new one, and reply
        at the turn's end. A failed turn's reply has the error's form besides its own."""
        key = self.asker.key
        session = await self.parts.sessions.of(request, key)
        _, result = await session.chat(UserMessage(request=request), "none", starter=key)
        reply = await result
        self.reply(reply, HTTP_STATUS[reply.error.code] if reply.error is not None else 200)

    def reply(self, answer: Wire | dict[str, Any], status: int = 200) -> None:
        """Send a JSON answer."""
        data = answer.to_wire() if isinstance(answer, Wire) else answer
        self.set_status(status)
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(to_json(data))

    def fail(self, error: AgentError) -> None:
        """Send an error."""
        self.reply(error.reply(), error.status)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Errors that no handler caught (404, 403, 500), in the same form as all others."""
        failure = (kwargs.get("exc_info") or (None, None, None))[1]
        message = "Internal server error. See the server log for details."
        if isinstance(failure, web.HTTPError):
            message = failure.log_message or failure.reason or self._reason
        code = _CODE_OF_STATUS.get(status_code, "internal")
        self.reply(AgentError(code, str(message)).reply(), status_code)


def route(
    action: Action, *, decides: bool = False
) -> Callable[[Method], Callable[..., Awaitable[None]]]:
    """A handler's method behind Jupyter's authentication and authorization for ``action``. What
    only the user ``decides`` is refused unless a page asks.

    ``execute`` is for everything that runs something in a kernel, even if it only reads values, or
    asks a model; nothing is run under ``read``. The method has it as ``action``.
    """

    def wrap(method: Method) -> Callable[..., Awaitable[None]]:
        @functools.wraps(method)
        async def handle(self: Handler, *args: str, **kwargs: str) -> None:
            try:
                if decides:
                    self.asker.require_page()
                answer = await method(self, *args, **kwargs)
            except (AgentError, DocumentError, ValidationError) as error:
                failure = as_agent_error(error)
                assert failure is not None
                self.fail(failure)
                return
            if answer is not None:
                self.reply(answer)

        allowed: Any = authorized(action, resource=RESOURCE)(handle)
        authenticated: Any = web.authenticated(allowed)
        authenticated.action = action
        return cast(Callable[..., Awaitable[None]], authenticated)

    return wrap


class NotFoundHandler(Handler):
    """Replies to unknown routes, in the form of all other errors."""

    @web.authenticated
    async def get(self) -> None:
        self.fail(
            AgentError("not_found", f"There is no route {self.request.path}. See openapi.json.")
        )

    post = put = patch = delete = get

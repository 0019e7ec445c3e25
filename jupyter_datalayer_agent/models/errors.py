"""Maps litellm's exceptions to ``ModelError`` that a user can act on, without keys."""

from __future__ import annotations

import contextlib
import datetime
import email.utils
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from ..protocol.json_text import parse_json
from ..secrets_in_text import redact
from . import loader
from .catalogue import Provider
from .chat_messages import Message, alternating
from .connections.address import proxy_for, shown_proxy
from .connections.connection import is_loopback
from .connections.way import NetworkProblem
from .types import BrokenStream, ModelError, ModelErrorCode

LONGEST_DETAIL = 400
"""Characters of the provider's own message that are shown."""

_PREFIX = re.compile(r"(?:litellm\.)?\w{0,60}(?:Error|Exception|Timeout)\s*(?::|-)\s*")
_TAILS = ("Original exception:", "Traceback (most", "LiteLLM Retried", "Received Model Group")
"""What litellm appends to a message."""
_WINDOW = re.compile(
    r"context.{0,9}(?:length|window|size)|maximum context|too many (?:input )?tokens"
    r"|prompt is too long|input is too long|exceeds? the (?:maximum|model).{0,30}tokens",
    re.IGNORECASE,
)


_STATUSES = {
    "authentication_error": 401,
    "billing_error": 402,
    "billing_hard_limit_reached": 402,
    "billing_not_active": 402,
    "bio_policy": 400,
    "content_policy_violation": 400,
    "context_length_exceeded": 400,
    "data_residency_mismatch": 400,
    "empty_image_file": 400,
    "failed_to_download_image": 400,
    "image_content_policy_violation": 400,
    "image_file_not_found": 400,
    "image_file_too_large": 400,
    "image_parse_error": 400,
    "image_too_large": 400,
    "image_too_small": 400,
    "insufficient_quota": 402,
    "invalid_api_key": 401,
    "invalid_base64_image": 400,
    "invalid_image": 400,
    "invalid_image_format": 400,
    "invalid_image_mode": 400,
    "invalid_image_url": 400,
    "invalid_prompt": 400,
    "invalid_request_error": 400,
    "model_not_found": 404,
    "not_found_error": 404,
    "permission_error": 403,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "request_too_large": 413,
    "unsupported_image_media_type": 400,
}
"""The kinds of errors within a stream, which have no status, by the codes and types that OpenAI and
Anthropic document. Others, such as ``server_error``, may be temporary."""
_PASSING = (408, 409, 425, 429)
"""Statuses from 400 to 499 after which a retry may succeed."""


def model_error(
    error: BaseException,
    *,
    provider: Provider | None,
    api_base: str | None = None,
    broken: BrokenStream | None = None,
    environ: Mapping[str, str] = os.environ,
    secrets: Iterable[str] = (),
) -> ModelError:
    """``error`` as a ``ModelError``. ``broken`` is set once the stream has begun: a failed
    connection or server error is then a broken stream, which can be continued."""
    chain = list(causes(error))
    problem = next((each for each in chain if isinstance(each, NetworkProblem)), None)
    if problem is not None:
        return ModelError("bad_request", redact(str(problem), environ))
    status = _status(chain)
    detail = _detail(chain)
    code = _code(chain, status, detail)
    detail = redact(detail, environ, secrets, is_refusal=code == "authentication")
    if code == "litellm_unusable":
        missing = _missing_package(chain)
        if missing is None:
            return loader.unusable(error)
        name = provider.label if provider else "The model's provider"
        return ModelError(
            code,
            f"{name} needs the Python package {missing}, which is not installed. Run: pip install "
            f"{missing}, then restart the server.",
        )
    if broken is not None and code in ("connection", "server"):
        code = "broken_stream"
    if code in ("connection", "broken_stream"):
        status = None  # litellm invented it
    return ModelError(
        code,
        _message(code, detail, provider, api_base, environ),
        retry_after=_retry_after(chain),
        status=status,
        broken=broken,
        is_not_ready=status == 503 and _is_near(api_base),
    )


def _is_near(address: str | None) -> bool:
    """Whether a server is on this computer or its network: by its address, or by a name that does
    not exist on the Internet."""
    host = (urlsplit(address or "").hostname or "").rstrip(".")
    try:
        return ip_address(host).is_private
    except ValueError:
        is_local_name = host != "" and ("." not in host or host.endswith(".local"))
        return is_local_name or is_loopback(host)


def causes(error: BaseException) -> Iterator[BaseException]:
    """``error`` and its causes, the innermost last; litellm wraps up to three deep."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        original = getattr(current, "original_exception", None)
        inner = original if isinstance(original, BaseException) else None
        current = inner or current.__cause__ or current.__context__


def _names(chain: list[BaseException]) -> set[str]:
    return {kind.__name__ for error in chain for kind in type(error).__mro__}


def _status(chain: list[BaseException]) -> int | None:
    """The provider's HTTP status. litellm sets 500 on errors without one, so the innermost one
    counts."""
    for error in reversed(chain):
        response = getattr(error, "response", None)
        body = getattr(error, "body", None)
        said = body if isinstance(body, dict) else {}
        for status in (
            getattr(error, "status_code", None),
            getattr(response, "status_code", None),
            # Of an error within a stream.
            said.get("code"),
            said.get("type"),
        ):
            if (number := _number(status)) is not None and 400 <= number < 600:
                return number
    return None


def _number(status: Any) -> int | None:
    if isinstance(status, str):
        return int(status) if status.isdecimal() else _STATUSES.get(status)
    return status if isinstance(status, int) else None


def _code(chain: list[BaseException], status: int | None, detail: str) -> ModelErrorCode:
    names = _names(chain)
    if "ImportError" in names:
        return "litellm_unusable"
    if status == 402 or any(map(_is_spent, chain)):
        return "payment"
    if status in (401, 403) or names & {"AuthenticationError", "PermissionDeniedError"}:
        return "authentication"
    if "ContextWindowExceededError" in names or (status in (400, 413) and _WINDOW.search(detail)):
        return "context_window"
    if status == 429 or "RateLimitError" in names:
        return "rate_limit"
    is_refused = status is not None and 400 <= status < 500 and status not in _PASSING
    if is_refused or names & {"BadRequestError", "NotFoundError"}:
        return "bad_request"
    if names & {"TransportError", "ClientError", "OSError", "Timeout", "TimeoutError"}:
        return "connection"
    unreachable = re.search(r"connection error|disconnected|cannot connect", detail, re.IGNORECASE)
    return "connection" if unreachable else "server"


def _is_spent(error: BaseException) -> bool:
    """Whether the account's quota is used up, which OpenAI reports as 429, as if waiting helped."""
    return "insufficient_quota" in f"{error} {getattr(error, 'code', '')}"


def _missing_package(chain: list[BaseException]) -> str | None:
    """The package that litellm needs for this provider only, if it is missing."""
    named = (each.name or "" for each in chain if isinstance(each, ModuleNotFoundError))
    packages = (name.partition(".")[0] for name in named)
    found = next((each for each in packages if each not in ("", "litellm", "mcp")), None)
    # botocore comes with boto3, which is the one that litellm names.
    return "boto3" if found == "botocore" else found


def _detail(chain: list[BaseException]) -> str:
    """The provider's own message, on one line, without litellm's prefixes."""
    text = next((str(error) for error in chain if str(error)), type(chain[0]).__name__)
    for tail in _TAILS:
        text = text.partition(tail)[0]
    text = text.strip()
    at = 0
    while match := _PREFIX.match(text, at):
        at = match.end()
    text = " ".join(_provider_message(text[at:]).split())
    return text if len(text) <= LONGEST_DETAIL else text[: LONGEST_DETAIL - 1] + "…"


def _provider_message(text: str) -> str:
    """The message inside an error body such as ``{"error": {"message": ...}}``, or ``text``."""
    start = text.find("{")
    if start < 0:
        return text
    try:
        body = parse_json(text[start : text.rindex("}") + 1])
    except ValueError:
        return text
    inner: Any = body.get("error", body) if isinstance(body, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else inner
    return message if isinstance(message, str) and message else text


def _retry_after(chain: list[BaseException]) -> float | None:
    """Seconds from ``Retry-After`` (a number or a date) or ``retry-after-ms``."""
    for error in chain:
        response = getattr(error, "response", None)
        for headers in (
            getattr(response, "headers", None),
            getattr(error, "litellm_response_headers", None),
            getattr(error, "headers", None),
        ):
            if isinstance(headers, Mapping) and (found := _seconds(headers)) is not None:
                return found
    return None


def _seconds(headers: Mapping[str, str]) -> float | None:
    lowered = {str(name).lower(): str(value) for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = lowered.get(name, "")
        if re.fullmatch(r"\d+(\.\d+)?", value):
            return float(value) / unit
    try:
        date = email.utils.parsedate_to_datetime(lowered.get("retry-after", ""))
    except ValueError:
        return None
    now = datetime.datetime.now(tz=date.tzinfo)
    return max(0.0, (date - now).total_seconds())


def _message(
    code: ModelErrorCode,
    detail: str,
    provider: Provider | None,
    api_base: str | None,
    environ: Mapping[str, str],
) -> str:
    name = provider.label if provider else "The model's provider"
    where = f" at {redact(api_base)}" if api_base else ""
    keys = f" Check {' or '.join(provider.keys)}." if provider and provider.keys else ""
    if provider and provider.check_key:
        keys = f" {provider.check_key}"
    report = f" It reported: {detail}" if detail else ""
    match code:
        case "authentication":
            return f"{name}{where} refused the key.{keys}{report}"
        case "rate_limit":
            return f"{name}{where} is rate limiting requests.{report}"
        case "context_window":
            return f"The conversation is longer than the model can read.{report}"
        case "payment":
            return (
                f"{name}{where} asks for payment: the account has no quota or credit left.{report}"
            )
        case "bad_request":
            return f"{name}{where} did not accept the request.{report}"
        case "connection":
            proxy = proxy_for(api_base, environ) if api_base else None
            if "CERTIFICATE_REQUIRED" in detail:
                return (
                    f"{name}{where} asks for a client certificate. Enter one where it is connected."
                )
            through = f" through the proxy {shown_proxy(proxy)}" if proxy else ""
            return f"{name}{where} cannot be reached{through}. ({detail})"
        case "broken_stream":
            return f"The answer was cut off before it was complete. ({detail})"
        case _:
            return f"{name}{where} failed.{report}"


# Which parts of a request model servers refuse, learnt from their answers.
#
# Servers with an OpenAI-compatible API support different parts of it, and word their refusals
# differently. If a refusal names something in the request, the request is repeated without that;
# once accepted, later requests to the same model leave it out from the start.


ROLE = "role"
"""The form of the conversation: templates of chat models name roles when they refuse it."""

_IDENTIFIER = re.compile(r"[A-Za-z_]+")
_LONGEST = 20_000
"""Characters of a refusal that are examined: servers may repeat the whole request in it."""

# Not about the form of a request: without them there is none.
_NEEDED = frozenset(["model", "messages", "input", "instructions", "tools", "stream", "store"])
# Addressed to litellm, which does not send them.
_OF_LITELLM = frozenset(
    ["api_base", "api_key", "extra_body", "max_retries", "num_retries", "drop_params", "timeout"]
)
_OLDER, _NEWER = "max_tokens", "max_completion_tokens"
"""The limit of an answer in the older and the newer form of the API."""


class Refusals:
    """What each model of each server refused. Kept only in memory, since servers are updated."""

    def __init__(self) -> None:
        self._known: dict[tuple[str | None, str], frozenset[str]] = {}

    def of(self, api_base: str | None, model: str) -> frozenset[str]:
        """The names that requests to this model leave out."""
        return self._known.get((api_base, model), frozenset())

    def learn(self, api_base: str | None, model: str, names: frozenset[str]) -> None:
        """Record that a request without ``names`` was accepted."""
        if names:
            self._known[api_base, model] = names


def refused_by(error: ModelError, arguments: Mapping[str, Any]) -> frozenset[str]:
    """The names in ``error`` of parts of the request (litellm's ``arguments``) that it can do
    without; empty for other kinds of error."""
    if error.code not in ("bad_request", "server"):
        return frozenset()
    said = set(_IDENTIFIER.findall(str(error.__cause__ or error)[:_LONGEST]))
    if said & {"roles", "Role", "Roles", "System"}:
        said.add(ROLE)
    names = _argument_names(arguments)
    if _NEWER in _sent(error):
        # litellm renames it for some models. Servers name both, one as what to use instead.
        names = (names - {_OLDER}) | {_NEWER}
    return frozenset(said & names)


def _sent(error: ModelError) -> set[str]:
    """The top-level names in the refused request, as it was sent."""
    for each in causes(error):
        request = getattr(getattr(each, "response", None), "_request", None)
        with contextlib.suppress(ValueError, RuntimeError):
            body = None if request is None else json.loads(request.content)
            if isinstance(body, dict):
                return set(body)
    return set()


def without(arguments: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The arguments without these names; what can be expressed otherwise is."""
    arguments = dict(arguments)
    body = dict(arguments.get("extra_body") or {})
    limit = arguments.get(_OLDER)
    if limit is not None and _NEWER in names:
        # As it is: an argument would be renamed again.
        del arguments[_OLDER]
        body[_OLDER] = limit
    elif limit is not None and _OLDER in names:
        arguments[_NEWER] = limit
    for name in names:
        for holder in (arguments, body):
            holder.pop(name, None)
    for holder in (arguments, body):
        if "strict" in names and holder.get("tools"):
            holder["tools"] = [_not_strict(tool) for tool in holder["tools"]]
        if ROLE in names and "messages" in holder:
            holder["messages"] = alternating(holder["messages"])
    if body:
        arguments["extra_body"] = body
    return arguments


def _argument_names(arguments: Mapping[str, Any]) -> set[str]:
    body = arguments.get("extra_body") or {}
    names = {*arguments, *body} - _NEEDED - _OF_LITELLM
    tools = body.get("tools") or arguments.get("tools") or []
    if any("strict" in tool.get("function", tool) for tool in tools):
        names.add("strict")
    messages: list[Message] = body.get("messages") or arguments.get("messages") or []
    if alternating(messages) != messages:
        names.add(ROLE)
    return names


def _not_strict(tool: Mapping[str, Any]) -> dict[str, Any]:
    if "function" in tool:
        return {**tool, "function": _not_strict(tool["function"])}
    return {name: value for name, value in tool.items() if name != "strict"}

"""Routes whose handlers are imported at the first request for one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
from tornado.routing import PathMatches, Router, Rule, RuleRouter
from tornado.web import Application


class LazyRoutes(Router):
    """Tornado's entry for the routes that ``load`` returns as patterns and handler classes."""

    def __init__(
        self, application: Application, load: Callable[[], list[tuple[str, type[Any]]]]
    ) -> None:
        self._application = application
        self._load = load
        self._router: _Handlers | None = None

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> HTTPMessageDelegate | None:
        """The delegate of the handler that the request's path names."""
        if self._router is None:
            self._router = _Handlers(self._application, self._load())
        return self._router.find_handler(request, **kwargs)


class _Handlers(RuleRouter):
    def __init__(self, application: Application, table: list[tuple[str, type[Any]]]) -> None:
        self._application = application
        super().__init__([Rule(PathMatches(pattern), handler) for pattern, handler in table])

    def get_target_delegate(
        self, target: Any, request: HTTPServerRequest, **target_params: Any
    ) -> HTTPMessageDelegate | None:
        return self._application.get_handler_delegate(request, target, **target_params)

"""``search``, ``turns/{id}``, ``responses``: searches of all conversations."""

from __future__ import annotations

from ...protocol.errors import AgentError
from ...protocol.history import Provenance, SearchReply, StoredResponse, TurnPlace
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route

MAX_LIMIT = 100


class SearchHandler(Handler):
    """Searches all sessions, or one."""

    @route("read")
    async def get(self) -> SearchReply:
        query = self.searched("q") or ""
        if not query.strip():
            raise AgentError("invalid_request", "q (the text to search for) is empty.")
        limit = self.number("limit", 20)
        if limit is None or not 1 <= limit <= MAX_LIMIT:
            raise AgentError("invalid_request", f"limit must be from 1 to {MAX_LIMIT}.")
        session_id = self.get_query_argument("sessionId", None)
        past = self.parts.runtime.store.past
        return SearchReply(results=await past.search(query, limit, session_id))


class TurnHandler(Handler):
    """One turn, by its id alone: the target of a citation."""

    @route("read")
    async def get(self, turn_id: str) -> TurnPlace:
        past = self.parts.runtime.store.past
        turn = await past.turn(turn_id)
        return TurnPlace(
            turn=turn,
            session_title=await past.title_of(turn.session_id) or "",
            session_kind=await past.kind_of(turn.session_id),
            responses=await past.responses_of(turn_id),
        )


class ResponsesHandler(Handler):
    """One answer, by its provenance."""

    @route("read")
    async def get(self) -> StoredResponse:
        names = ("aiTurnId", "providerId", "responseType")
        given = {name: self.get_query_argument(name, "") for name in names}
        missing = [name for name, value in given.items() if not value]
        if missing:
            raise AgentError("invalid_request", f"{', '.join(missing)} must be given.")
        key = Provenance.model_validate({**given, "responseIndex": self.number("responseIndex", 0)})
        return await self.parts.runtime.store.past.response(key)


ROUTES = [
    Route(
        "search",
        SearchHandler,
        {
            "get": Operation(
                "Search all that was said, the newest first",
                response=SearchReply,
                query={
                    "q": "what to look for, as it stands: any part of a text",
                    "limit": "how many results, 1 to 100 (20)",
                    "sessionId": "only in this session",
                },
            )
        },
    ),
    Route(
        "turns/{turn_id}",
        TurnHandler,
        {"get": Operation("A turn, by its id alone", response=TurnPlace)},
    ),
    Route(
        "responses",
        ResponsesHandler,
        {
            "get": Operation(
                "An answer, by its provenance",
                response=StoredResponse,
                query={
                    "aiTurnId": "the turn",
                    "providerId": "the model's provider in litellm's form",
                    "responseType": "batch, synthesis, summary, plan or proposal",
                    "responseIndex": "from 0 (0)",
                },
            )
        },
    ),
]

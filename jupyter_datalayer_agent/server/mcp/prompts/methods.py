"""``prompts``: listed, and made of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..peer import Method, Params, Peer
from ..rpc import INVALID_PARAMS, RpcError
from .kind import Prompt


class PromptMethods:
    """``prompts`` gives all of them, each name once: a first one wins."""

    def __init__(self, prompts: Callable[[], Iterable[Prompt]]) -> None:
        self._prompts = prompts

    def methods(self) -> dict[str, Method]:
        """By name."""
        return {"prompts/list": self.list, "prompts/get": self.get}

    async def list(self, peer: Peer, params: Params) -> dict[str, Any]:
        """All prompts."""
        return {"prompts": [prompt.listed() for prompt in self._by_name().values()]}

    async def get(self, peer: Peer, params: Params) -> dict[str, Any]:
        """One prompt's messages."""
        prompt = self._by_name().get(str(params["name"]))
        if prompt is None:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {params['name']}. See prompts/list.")
        given = {str(name): str(value) for name, value in (params.get("arguments") or {}).items()}
        missing = [
            each.name for each in prompt.arguments if each.required and each.name not in given
        ]
        if missing:
            raise RpcError(INVALID_PARAMS, f"{prompt.name} needs {', '.join(missing)}.")
        return {"description": prompt.description, "messages": prompt.messages(given)}

    def _by_name(self) -> dict[str, Prompt]:
        found: dict[str, Prompt] = {}
        for prompt in self._prompts():
            found.setdefault(prompt.name, prompt)
        return found

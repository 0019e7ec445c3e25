"""A turn's answer as text that only grows, for those who cannot take back what they showed."""

from __future__ import annotations

from typing import Any

BROKEN_OFF = "\n\n*(This answer broke off and begins anew.)*\n\n"
WAS_REASONING = "\n\n*(So far this was the model's reasoning. Its answer follows.)*\n\n"


class StreamedAnswer:
    """Takes the events of one turn, as they are on the wire, in order."""

    def __init__(self) -> None:
        self._items: dict[str, str] = {}
        self._last_item = ""
        self._has_text = False

    def take(self, event: dict[str, Any]) -> str:
        """What the event adds to the text, with a blank line before a new paragraph."""
        kind = event["type"]
        if kind == "text_delta":
            return self._delta(event["itemId"], event["delta"])
        if kind == "item_discarded":
            note = WAS_REASONING if event.get("reason") == "reasoning" else BROKEN_OFF
            return note if self._items.pop(event["itemId"], "") else ""
        if kind == "final_reply":
            return self._final(event)
        if kind == "workflows_offered":
            return self.paragraph(event["message"])
        if kind == "warning":
            return self.paragraph(f"*{event['message']}*")
        if kind == "answer_finished" and event.get("text"):
            return self.paragraph(f"**{event['model']}**\n\n{event['text']}")
        return ""

    def paragraph(self, text: str) -> str:
        """The text as a paragraph of its own, after what there is."""
        apart = "\n\n" if self._has_text else ""
        self._has_text = True
        return f"{apart}{text}"

    def _delta(self, item: str, delta: str) -> str:
        is_new = item not in self._items
        self._items[item] = self._items.get(item, "") + delta
        self._last_item = item
        return self.paragraph(delta) if is_new else delta

    def _final(self, event: dict[str, Any]) -> str:
        """What of the whole answer was not streamed, and what was not done."""
        shown, text = self._items.get(self._last_item, ""), event["text"]
        added = ""
        if shown and text.startswith(shown):
            added = text[len(shown) :]
        elif text.strip():
            added = self.paragraph(text)
        if (missed := event.get("notDone")) is not None:
            added += self.paragraph(f"**{missed['message']}**")
        return added

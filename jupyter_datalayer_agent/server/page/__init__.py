"""The WebSocket of an open page."""

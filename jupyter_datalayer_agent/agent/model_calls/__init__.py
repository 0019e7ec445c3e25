"""Calls of the model in a turn, within its context window."""

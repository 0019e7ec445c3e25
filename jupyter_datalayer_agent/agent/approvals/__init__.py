"""Asking the user in the middle of a turn, and what may be sent to the model."""

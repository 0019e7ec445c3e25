"""A turn: its loop, its record and its end."""

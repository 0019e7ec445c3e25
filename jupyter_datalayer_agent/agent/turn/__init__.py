"""A turn: what it is asked, its loop, and its end."""

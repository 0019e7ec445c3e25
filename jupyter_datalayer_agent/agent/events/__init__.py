"""A session's events: numbered, written, sent; and the buffer that joins text."""

"""A session's events: the buffer that joins text on its way to the store, and the channel that
sends what is stored."""

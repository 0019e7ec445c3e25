"""A live session: its op loop, its queue of messages and its events."""

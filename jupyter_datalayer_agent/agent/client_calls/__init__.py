"""The tool calls of another program's model: what changes something is a turn of a session."""

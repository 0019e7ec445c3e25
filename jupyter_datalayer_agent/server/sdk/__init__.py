"""The agent as other programs see it: its descriptor, and its registration with an agent SDK."""

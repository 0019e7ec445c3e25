"""``prompts``: workflows, and what the agent knows about services."""

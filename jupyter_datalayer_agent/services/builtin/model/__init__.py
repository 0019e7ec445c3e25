"""``/model``: a workflow as an action."""

"""``/report``: a workflow as an action."""

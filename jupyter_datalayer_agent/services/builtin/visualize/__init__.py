"""``/visualize``: a workflow as an action."""

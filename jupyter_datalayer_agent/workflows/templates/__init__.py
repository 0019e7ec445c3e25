"""Workflow templates: their catalogue, what of a message matches one, and the built-in ones."""

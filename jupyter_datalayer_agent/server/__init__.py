"""Thin handlers, one file a resource: they check, translate, and leave the work to the agent."""

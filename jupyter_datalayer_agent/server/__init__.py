"""Thin handlers, one file per resource: they check, translate, and leave the work to the agent."""

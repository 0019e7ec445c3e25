"""Shared parts of the built-in templates: the data, prose, and cells."""

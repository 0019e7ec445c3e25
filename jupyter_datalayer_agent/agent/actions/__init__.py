"""Turns about services: what a message asks for, actions proposed, and actions run."""

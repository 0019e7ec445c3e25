"""Turns of services: what a message asks for, its answer, and the run of an action."""

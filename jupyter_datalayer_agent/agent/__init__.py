"""Queues, the turn loop, approvals, history and prompts."""

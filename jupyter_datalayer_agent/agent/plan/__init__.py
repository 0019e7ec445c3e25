"""Planned workflows: a task is planned, shown, carried out step by step, fixed and summed up."""

"""Planned workflows: a task is planned, shown, carried out step by step, repaired and summed up."""

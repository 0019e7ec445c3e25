"""Tutorials: lessons in a notebook, each with a check that runs in the learner's kernel."""

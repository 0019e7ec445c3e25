"""Answers of several models to one message: regenerated, compared, and their synthesis."""

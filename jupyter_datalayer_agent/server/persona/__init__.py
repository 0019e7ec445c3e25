"""The persona for Jupyter AI: a chat of Jupyter AI as one of our sessions.

Only ``persona.py`` imports Jupyter AI, which loads it by the entry point ``jupyter_ai.personas``.
"""

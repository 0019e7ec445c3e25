"""The persona of Jupyter AI: a chat of Jupyter AI as a session of ours.

Only ``persona.py`` imports Jupyter AI, which loads it by the entry point ``jupyter_ai.personas``.
"""

"""What the agent tells of itself to those who run it: logs, events, metrics, spans.

``signals`` derives from a session's events what is worth telling; each other module tells it in one
way. None of it sees more than a session's events, and none of it can fail a turn.
"""

"""What the agent reports to those who run it: logs, events, metrics, spans.

``signals`` derives from a session's events what is worth reporting; each other module reports it
in one way. None of it sees more than a session's events, and none of it can fail a turn.
"""

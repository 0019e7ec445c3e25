"""What the agent reports to its operators: logs, events, metrics, spans.

``signals`` derives what is worth reporting from a session's events; each other module reports it in
one way. None of it can fail a turn.
"""

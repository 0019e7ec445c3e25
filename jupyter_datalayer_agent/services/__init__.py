"""Services: what the agent knows about an area, and the actions it can do there for the user.

``service`` and ``action`` are what packages import that bring a service of their own.
"""

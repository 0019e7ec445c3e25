"""Settings: what there is, the layers that values come from, and what an administrator locked.

DESIGN 9. ``definitions`` is imported at the server's start and holds nothing but traitlets; the
rest is imported with the first request.
"""

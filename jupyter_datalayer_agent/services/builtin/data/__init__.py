"""``/data``: what can be done with data files."""

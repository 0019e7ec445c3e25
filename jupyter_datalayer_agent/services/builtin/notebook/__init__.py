"""``/notebook``: what can be done with a notebook as a file."""

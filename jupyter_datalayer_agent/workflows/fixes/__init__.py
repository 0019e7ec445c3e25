"""Error fixes: their registry, the probe of a notebook that they ask, and the built-in ones."""

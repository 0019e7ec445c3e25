"""``resources``: open notebooks, cells, data sets and sessions."""

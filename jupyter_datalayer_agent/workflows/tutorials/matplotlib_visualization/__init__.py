"""The tutorial "Visualization with matplotlib": its lessons are in ``lessons.md``."""

"""The tutorial "Pandas basics": its lessons are in ``lessons.md``."""

"""The tutorial "A first model with scikit-learn": its lessons are in ``lessons.md``."""

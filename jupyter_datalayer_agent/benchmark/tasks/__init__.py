"""Data-analysis tasks on real notebooks, which the whole agent carries out, each with a check."""

"""Converts a file to Parquet, in a separate process (``python -m ...datasets.convert``).

The server imports nothing of this, since it needs DuckDB and openpyxl.
"""

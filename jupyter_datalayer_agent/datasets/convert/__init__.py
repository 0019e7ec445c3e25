"""Makes Parquet of a file; runs as a process of its own (``python -m ...datasets.convert``).

Nothing here is imported by the server: this is where DuckDB and openpyxl are.
"""

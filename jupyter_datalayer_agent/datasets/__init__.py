"""Data sets: an upload is received, made Parquet of in a process of its own, and kept by name.

Imports nothing of the package but ``protocol``. What is imported by the server is light; DuckDB is
imported by the process that converts, and by nothing else.
"""

"""Data sets: an upload is received, converted to Parquet in a separate process, and stored by name.

Imports only ``protocol`` of the package. DuckDB is imported by the conversion process only.
"""

"""The SQLite file: opened, checked, written and kept healthy."""

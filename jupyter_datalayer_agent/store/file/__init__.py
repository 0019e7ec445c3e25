"""The SQLite file: opens, checks, writes and maintains it."""

"""Lexical documents: their blocks, edits and runs, and Markdown to and from their nodes."""

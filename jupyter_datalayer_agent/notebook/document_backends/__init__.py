"""The backends of notebooks: open in a page, or a file."""

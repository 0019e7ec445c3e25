"""Text files: read, edited, recorded and undone; which of them hold secrets; listings."""

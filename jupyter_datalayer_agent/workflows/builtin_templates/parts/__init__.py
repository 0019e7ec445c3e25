"""What the built-in templates share: the data as it was found, prose, and cells."""

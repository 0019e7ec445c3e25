"""Azure Blob Storage: the actions of ``/storage``."""

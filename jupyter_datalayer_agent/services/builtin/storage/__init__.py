"""``/storage``: what the agent knows of Azure Blob Storage."""

"""The HTTP handlers, one file a resource."""

"""Signing in to MCP servers over HTTP, by OAuth."""

"""Tools of other MCP servers: which there are, what they may do, and how they are called."""

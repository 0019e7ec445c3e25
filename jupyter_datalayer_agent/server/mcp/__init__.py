"""The MCP server: tools, resources and prompts for other programs, on Jupyter's own port."""

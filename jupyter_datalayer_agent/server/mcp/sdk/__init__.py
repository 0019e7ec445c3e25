"""The official ``mcp`` package, in both of its major versions: loaded at the first MCP request.

The two differ in how handlers are declared and in the forms of messages; what they share (a server
that runs over two memory streams of messages) is all that the rest of this room knows.
"""

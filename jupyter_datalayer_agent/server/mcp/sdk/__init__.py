"""Adapters for both major versions of the official ``mcp`` package, loaded at the first request.

The versions differ in how handlers are declared and in the forms of messages. The rest of
``server.mcp`` uses only what they share: a server that runs over two memory streams of messages.
"""

"""What crosses a boundary: ops, events, requests, context, tool results and errors.

Every name here is public and described by ``openapi.json``. The modules hold pydantic models and
nothing else: no input or output, no import of the rest of the package.
"""

"""The agent over the Agent Client Protocol (``jupyter datalayer-agent acp``), for editors.

A client of our HTTP API, beside ``cli``: turns, gate, approvals and undo are the server's. Nothing
here is imported by the server, and the package ``acp`` comes with the extra of that name.
"""

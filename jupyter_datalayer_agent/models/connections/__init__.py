"""Models that users connect in the panel: their addresses and keys, and how a call gets them.

``connection`` is one of them, ``registry`` all. A key is in the system's keyring or in a file of
the user's own (``key_store``), and in nothing else; ``connections.json`` says where.
"""

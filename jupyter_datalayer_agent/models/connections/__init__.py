"""Models that users connect in the panel: their addresses and keys, and how a call gets them.

``connection`` defines one, ``registry`` has all of them. A key is kept in the system's keyring, in
a file of the user's own or in memory (``key_store``); ``connections.json`` says where.
"""

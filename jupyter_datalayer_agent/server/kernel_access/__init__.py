"""How kernels reach the server: addresses, tokens, and what they may do."""

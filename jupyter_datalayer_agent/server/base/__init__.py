"""The base of the handlers and the page's socket; imports nothing of them."""

"""The base of the handlers and of the page's socket; imports neither."""

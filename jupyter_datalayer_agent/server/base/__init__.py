"""What the handlers and the page's socket are built on; imports nothing of them."""

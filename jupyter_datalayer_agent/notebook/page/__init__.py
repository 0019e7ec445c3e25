"""Open pages: their documents, and requests to them."""

"""``/lexical``: notebooks as Lexical documents, and back."""

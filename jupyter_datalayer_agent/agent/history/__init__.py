"""The conversation as the model is sent it: items, past turns, and what it knows already."""

"""What the model is sent of a notebook: its fields and text, and what it knows already."""

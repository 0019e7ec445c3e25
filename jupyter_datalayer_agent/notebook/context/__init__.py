"""A notebook as the model is sent it: fields and text, and what the model already knows."""

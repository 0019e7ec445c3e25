"""What the model is sent with the message: history, notebook, attachments, system prompt."""

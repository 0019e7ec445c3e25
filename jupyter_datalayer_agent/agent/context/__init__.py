"""What the model is sent beside the message: history, notebook, attachments, system prompt."""

"""What turns changed in documents: checkpoints, undo, rewind and fork."""

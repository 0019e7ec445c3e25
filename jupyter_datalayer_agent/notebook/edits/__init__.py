"""Edits of cells, checkpoints and undo: pure functions on notebooks."""

"""The tool calls of an answer: scheduled, run and verified."""

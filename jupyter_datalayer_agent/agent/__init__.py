"""Sessions, the turn loop, approvals, history and prompts."""

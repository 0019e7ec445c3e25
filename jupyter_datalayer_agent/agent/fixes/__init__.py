"""Error fixes in the agent: which are offered for a failed cell, and the attempts at one."""

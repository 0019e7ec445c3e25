"""Features built on the agent: the Strategist, other answers, the next cell, exports."""

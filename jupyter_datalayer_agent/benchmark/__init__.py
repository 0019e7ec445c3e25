"""How often the agent understands a message rightly: cases run, counted and reported."""

"""The tools that the model, the aliases and ``POST tools/{name}`` call, and the gate before them."""

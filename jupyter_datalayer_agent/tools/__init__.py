"""The tools that the model and ``POST tools/{name}`` call, and the gate before them."""

"""The ``%agent`` magic. It runs in kernels, so it imports the standard library and IPython."""

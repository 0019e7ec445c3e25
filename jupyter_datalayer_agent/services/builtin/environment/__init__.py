"""``/environment``: the packages of the notebook's kernel, and kernels."""

"""In place of the package, by ``PYTHONPATH``: jsonschema imports it for the format of IRIs, which
nothing here has, and it compiles their grammar then, two seconds of a core in each process."""

raise ImportError("The tests do without it.")

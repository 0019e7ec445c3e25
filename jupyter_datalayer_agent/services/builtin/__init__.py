"""The services of this package, declared as any other package declares its own."""

"""The benchmark's cases of the services that are built in: a module for each."""

"""Data files of the user: converted, sampled, joined, in a process of its own."""

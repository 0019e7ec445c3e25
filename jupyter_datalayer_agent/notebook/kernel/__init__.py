"""Kernels: connections, runs, outputs, variables and limits."""

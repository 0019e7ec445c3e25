"""Benchmarks: each module prints one table. ``python -m benchmarks [name …]``; see ``docs/performance.md``.

Figures of one run are to be compared with each other, by their ratios: machines differ and are
noisy. Every figure is a median, with the number of runs beside it.
"""

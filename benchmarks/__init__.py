"""Benchmarks: each module prints its tables. Run ``python -m benchmarks [name …]``.

Results are in ``docs/performance.md``.

Figures of one run are to be compared with each other, by their ratios: machines differ and are
noisy. Every figure is a median, with the number of runs beside it.
"""

"""Benchmarks against peers, measured in the same run: ``python -m benches.python [name ...]``."""

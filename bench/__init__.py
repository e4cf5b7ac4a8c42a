"""Benchmarks of turntide itself: `python -m bench`, or `make bench`. See docs/benchmarks.md."""

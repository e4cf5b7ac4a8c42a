"""The source databases and the benchmarks: how each is built, talked through and scored."""

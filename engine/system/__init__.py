"""What the machine lends: files, the cache, packages, the loop, the clock, the garbage collector."""

"""Construction of TIDE-Bench (§3.2, Appendix B): from anchor queries to triplets, as a run of the engine."""

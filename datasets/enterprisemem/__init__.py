"""EnterpriseMem-Bench (arXiv 2605.26394): memory architectures for multi-turn text-to-SQL."""

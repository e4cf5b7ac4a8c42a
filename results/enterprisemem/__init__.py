"""EnterpriseMem-Bench's reports: from a journal to the paper's tables."""

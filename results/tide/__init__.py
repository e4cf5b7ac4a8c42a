"""TIDE-Bench's reports: from a journal to the paper's tables, and the check of its user simulator."""

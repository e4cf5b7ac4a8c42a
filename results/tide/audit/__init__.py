"""The human audit: a page with checklists, and the report of what annotators said (§3.3, Appendices C and E)."""

"""Figures: first as values (`figure`), then drawn (`draw`), as files or for a page."""

"""A run as those see it who watch it: counted as it happens, on the panel, in the journal, and at its end."""

"""The simulated models of EnterpriseMem-Bench: they answer from the prompt alone, and never see gold or a session."""

"""Dialogues talked through again without a model: replayed, rescored, or rehearsed for an estimate."""

"""Sentence embeddings: the real all-MiniLM-L6-v2 in a worker process, and a lexical stand-in under its own name."""

"""What a turn can know of earlier ones: working, episodic and semantic memory, and the values resolved from them."""

"""A document becomes chunks in the index."""

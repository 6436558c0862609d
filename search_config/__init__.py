"""What the engine is told, and where it runs."""

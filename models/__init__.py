"""Text to numbers, and text to text: every neural model behind a small protocol."""

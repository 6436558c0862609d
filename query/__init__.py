"""A question becomes passages, or an honest refusal."""

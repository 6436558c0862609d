"""Measures the code that serves users; nothing is measured on a copy."""

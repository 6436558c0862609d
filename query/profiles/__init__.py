"""Profiles that ship with the package."""

"""The installed version."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """Version of the distribution `mafteach`."""
    return metadata.version("mafteach")

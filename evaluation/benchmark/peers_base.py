"""What every system of the comparison does, ours too: write rows whose vectors are there, and answer one question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from search_config.errors import MissingExtra

# Passages of a page, and of the recall.
SIZE = 20
# Candidates of each leg: as many as ours has. A second row gives Haystack a page from each leg, as its examples do.
CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Row:
    """A passage to be written.

    Attributes:
        text: header and content, which is what was embedded: what a peer searches in by words.
        vector: `(dim,)`, of length 1.
    """

    id: str
    tenant: str
    text: str
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Described:
    """A system as it is printed.

    Attributes:
        settings: everything that was chosen for it, in words.
        versions: of its packages.
    """

    name: str
    settings: str
    versions: dict[str, str] = field(default_factory=dict)


class Peer(Protocol):
    """One system over an index of its own on the same node."""

    @property
    def described(self) -> Described:
        """Name, settings, versions."""

    def write(self, rows: Sequence[Row]) -> None:
        """Write rows and make them searchable."""

    def search(self, query: str, tenant: str) -> list[str]:
        """Ids of the `SIZE` best passages of a tenant, the best first; embeds the question itself."""

    def nearest(self, query: str, tenant: str) -> list[str]:
        """Ids of the `SIZE` nearest passages of a tenant by vector alone."""

    def close(self) -> None:
        """Close connections."""


def installed(*packages: str) -> dict[str, str]:
    """Versions of packages.

    Raises:
        MissingExtra: one is not installed.
    """
    try:
        return {name: version(name) for name in packages}
    except PackageNotFoundError as error:
        raise MissingExtra(
            "This peer is not installed.",
            where=str(error.name),
            remedy="pip install 'mafteach[peers]', best into an environment of its own.",
        ) from error

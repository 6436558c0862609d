"""Chunks from a seed, at any size: text, vectors, token codes, tenants and fields as a large installation has them.

A corpus is cut into pages of `PAGE` chunks, each a function of seed and number alone: a smaller corpus is the beginning
of a larger one, so that an index can grow from one measured size to the next.

Vectors. A chunk is a real passage `a` with one sentence exchanged, and its vector a mixture of `a` with two other real
passages `b` and `c`, all taken from the cloud's centre `m` and the sum scaled to length 1:

    m + sqrt(1 - s^2) (a - m) + s / sqrt(2) ((b - m) + (c - m))

Mixtures keep the centre and the covariance of the real vectors, which independent noise does not: in 384 dimensions it
would put all neighbours at one distance. `s` is chosen so that two chunks of one real passage are as far from each
other, in the median, as a real passage is from its nearest neighbour (`calibrated_spread`), and varies by a quarter.
Every real passage is used once before any is used again. `histograms` shows distances of real and generated vectors.

Tenants, exact in every `BLOCK` chunks: one of 50%, twenty of 1%, three thousand of .01%. Type, year and group of a
document are drawn apart from each other, so that a filter's share is the product of the shares.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evaluation.benchmark.corpus_base import Base
from evaluation.benchmark.corpus_text import examples_folder, recombined, renumbered, sentences
from ingest.chunk_store import ChunkRow
from models.base import Vectors
from query.filter_fields import Filters
from search_config.document_fields import DocumentType
from search_config.install import IndexInfo
from search_config.language import language_of
from search_config.records import ChunkRecord, Locator, document_id

PAGE: Final = 1_000
# The smallest corpus in which every tenant has its exact share.
BLOCK: Final = 10_000
LARGE: Final = "half"
MEDIUM, MEDIUM_TENANTS = "medium", 20
SMALL, SMALL_TENANTS = "small", 3_000
_SHARES: Final = ((LARGE, BLOCK // 2), (MEDIUM, BLOCK // 100), (SMALL, BLOCK // 10_000))

TYPES: Final[dict[DocumentType, float]] = {
    DocumentType.CONTRACT: 0.5,
    DocumentType.REPORT: 0.2,
    DocumentType.CORRESPONDENCE: 0.2,
    DocumentType.PROTOCOL: 0.1,
}
YEARS: Final = tuple(range(2015, 2025))
GROUPS: Final[dict[str, float]] = {"staff": 0.5, "finance": 0.2, "legal": 0.1, "": 0.2}
# All chunks are of one moment: a corpus depends on nothing but its seed.
WRITTEN: Final = datetime(2024, 12, 31, tzinfo=UTC)

# Vectors that a calibration looks at, and steps of its bisection: after 12 the share is known to a four-thousandth.
_SAMPLE: Final = 1_000
_STEPS: Final = 12
# How much `s` varies about its middle, as a share of it: neighbours are not all equally far.
_VARIES: Final = 0.25
# Bins of the histograms, as cosine distances.
BINS: Final = tuple(round(0.005 * edge, 3) for edge in range(25))
# Equal vectors may be a rounding error nearer than 0.
_NEAREST, _FURTHEST = -1e-3, 2.0

Distances = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Combination:
    """A filter of tenant, type, date and group, and its share of all chunks."""

    share: float
    tenant: str
    filters: Filters


def _combination(share: float, kind: DocumentType, years: int, group: str) -> Combination:
    filters = Filters(type=(kind.value,), date_from=date(YEARS[-years], 1, 1), groups=(group,))
    return Combination(share, LARGE, filters)


# .5 of the tenant, times type, years and group.
COMBINATIONS: Final = (
    _combination(0.1, DocumentType.CONTRACT, 8, "staff"),
    _combination(0.01, DocumentType.REPORT, 5, "finance"),
    _combination(0.001, DocumentType.PROTOCOL, 2, "legal"),
)


@dataclass(frozen=True, slots=True)
class Page:
    """`PAGE` chunks by column.

    Attributes:
        first: place of its first chunk in the corpus.
        parents: of each chunk, the real passage that it is made of.
        vectors: `(PAGE, dim)` float32, of length 1.
    """

    first: int
    parents: NDArray[np.int64]
    vectors: Vectors
    tenants: tuple[str, ...]
    types: tuple[DocumentType, ...]
    dates: tuple[date, ...]
    groups: tuple[str, ...]
    contents: tuple[str, ...]


class Corpus:
    """Chunks 0, 1, 2, … of a seed."""

    def __init__(self, base: Base, *, seed: int = 1, spread: float | None = None) -> None:
        """Make one.

        Args:
            base: real passages.
            seed: of everything that is drawn.
            spread: the middle of `s`; None calibrates it (some seconds).
        """
        self.base = base
        self.seed = seed
        self.spread = calibrated_spread(base.vectors, seed) if spread is None else spread
        self._source = sentences(examples_folder())

    def page(self, number: int) -> Page:
        """One page."""
        dice = np.random.default_rng((self.seed, number, 1))
        parents = self._parents(number * PAGE)
        kinds, years, groups = (
            [list(values)[place] for place in dice.choice(len(shares), size=PAGE, p=list(shares))]
            for values, shares in (
                (TYPES, TYPES.values()),
                (YEARS, [1 / len(YEARS)] * len(YEARS)),
                (GROUPS, GROUPS.values()),
            )
        )
        days = dice.integers(1, (13, 29), size=(PAGE, 2))
        return Page(
            first=number * PAGE,
            parents=parents,
            vectors=mixed(self.base.vectors, parents, self.spread, dice),
            tenants=self._tenants(number),
            types=tuple(kinds),
            dates=tuple(date(year, int(month), int(day)) for year, (month, day) in zip(years, days, strict=True)),
            groups=tuple(groups),
            contents=tuple(self._content(int(parent), number * PAGE + row, dice) for row, parent in enumerate(parents)),
        )

    def pages(self, first: int, last: int) -> Iterator[Page]:
        """The pages that hold chunks `first` to `last`, exclusive; both are multiples of `PAGE`."""
        for number in range(first // PAGE, -(-last // PAGE)):
            yield self.page(number)

    def rows(self, first: int, last: int, info: IndexInfo, *, codes: bool = True) -> Iterator[ChunkRow]:
        """Chunks `first` to `last`, exclusive, as they are written.

        Args:
            info: of the index that they are for.
            codes: with the token codes of their real passages, where there are any.
        """
        for page in self.pages(first, last):
            for row in range(max(0, first - page.first), min(PAGE, last - page.first)):
                code = self.base.codes[page.parents[row]] if codes and self.base.codes else None
                yield ChunkRow(record_of(page, row, info), page.vectors[row], code)

    def queries(self, count: int) -> list[str]:
        """Questions: single sentences with other figures, as long as people's; the same for every size."""
        dice = np.random.default_rng((self.seed, 2))
        return [
            " ".join(renumbered(self._source[place], dice).split()[:_QUERY_WORDS])
            for place in dice.integers(len(self._source), size=count)
        ]

    def _parents(self, first: int) -> NDArray[np.int64]:
        """Of `PAGE` chunks: the real passages in an order of their own for each round through all of them."""
        size = len(self.base)
        rounds = range(first // size, -(-(first + PAGE) // size))
        orders = [np.random.default_rng((self.seed, one, 6)).permutation(size) for one in rounds]
        return np.concatenate(orders)[first % size :][:PAGE]

    @cached_property
    def _block(self) -> tuple[str, ...]:
        names = [name for prefix, count in _SHARES for name in _tenants_named(prefix) for _ in range(count)]
        return tuple(names)

    def _tenants(self, number: int) -> tuple[str, ...]:
        """Of a page: a part of its block, in which every tenant has its exact share in an order of the block's own."""
        pages = BLOCK // PAGE
        order = np.random.default_rng((self.seed, number // pages, 3)).permutation(BLOCK)
        part = order[number % pages * PAGE : (number % pages + 1) * PAGE]
        return tuple(self._block[place] for place in part)

    def _content(self, parent: int, number: int, dice: np.random.Generator) -> str:
        """The real passage with one sentence exchanged, and a number of its own."""
        kept = list(self.base.passages[parent])
        kept[int(dice.integers(len(kept)))] = recombined(self._source, dice)[0]
        return f"{' '.join(kept)} (תיק {self.seed}-{number})"


# Words of a generated question; those of `examples/queries.jsonl` have eleven in the middle.
_QUERY_WORDS: Final = 11


def _tenants_named(prefix: str) -> list[str]:
    many = {LARGE: 1, MEDIUM: MEDIUM_TENANTS, SMALL: SMALL_TENANTS}[prefix]
    return [prefix] if many == 1 else [f"{prefix}-{number}" for number in range(many)]


def record_of(page: Page, row: int, info: IndexInfo) -> ChunkRecord:
    """One chunk of a page, a document of its own."""
    number, content, tenant = page.first + row, page.contents[row], page.tenants[row]
    document = document_id(tenant, f"bench-{number}")
    digest = hashlib.sha256(content.encode()).hexdigest()
    return ChunkRecord(
        chunk_id=f"{document}-{digest[:10]}-00000",
        document_id=document,
        tenant=tenant,
        version=1,
        content_hash=digest,
        ordinal=0,
        title=f"תיק {number}",
        content=content,
        language=language_of(content),
        media_type="text/plain",
        locator=Locator(from_=0, to=len(content)),
        model=info.model.identity,
        pipeline=info.pipeline,
        indexed_at=WRITTEN,
        type=page.types[row].value,
        date=page.dates[row].isoformat(),
        groups=(page.groups[row],) if page.groups[row] else (),
    )


def mixed(real: Vectors, parents: NDArray[np.int64], spread: float, dice: np.random.Generator) -> Vectors:
    """Vectors near real ones.

    Args:
        real: `(passages, dim)`.
        parents: `(n,)`, places of the passages that they are near.
        spread: the middle of `s`, 0 to 1.
        dice: draws `s`, and the two other passages of each.

    Returns:
        `(n, dim)` float32, of length 1.
    """
    centre = real.mean(axis=0)
    share = np.minimum(1.0, spread * dice.uniform(1 - _VARIES, 1 + _VARIES, size=(len(parents), 1)))
    first, second = dice.integers(len(real), size=(2, len(parents)))
    others = (real[first] + real[second] - 2 * centre) / np.sqrt(2)
    raw = centre + np.sqrt(1 - share**2) * (real[parents] - centre) + share * others
    units: Vectors = (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)
    return units


def calibrated_spread(real: Vectors, seed: int) -> float:
    """The spread at which two vectors of one passage are as far apart as real neighbours are, in the median."""
    wanted = float(np.median(neighbour_distances(real, seed)))
    parents = np.repeat(np.arange(len(real) // 2), 2)
    low, high = 0.0, 1.0 / (1 + _VARIES)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        pairs = mixed(real, parents, middle, np.random.default_rng((seed, 4)))
        near = float(np.median(neighbour_distances(pairs, seed))) < wanted
        low, high = (middle, high) if near else (low, middle)
    return (low + high) / 2


def neighbour_distances(vectors: Vectors, seed: int) -> Distances:
    """Cosine distances to the nearest other vector, of `_SAMPLE` of them (or of all, where there are fewer)."""
    asked = np.random.default_rng((seed, 5)).permutation(len(vectors))[:_SAMPLE]
    cosines = vectors[asked] @ vectors.T
    cosines[np.arange(len(asked)), asked] = -1.0
    nearest: Distances = 1.0 - cosines.max(axis=1).astype(np.float64)
    return nearest


@dataclass(frozen=True, slots=True)
class Histograms:
    """Shares of vectors by the distance to their nearest neighbour, in the bins of `BINS`; the last is open.

    Attributes:
        real: of the real passages.
        generated: of as many generated vectors, one of each passage.
        doubled: of twice as many, two of each passage.
    """

    real: tuple[float, ...]
    generated: tuple[float, ...]
    doubled: tuple[float, ...]


def histograms(corpus: Corpus) -> Histograms:
    """Of a corpus and the passages that it is made of."""
    real, dice = corpus.base.vectors, np.random.default_rng((corpus.seed, 7))
    once, twice = (mixed(real, np.tile(np.arange(len(real)), times), corpus.spread, dice) for times in (1, 2))
    return Histograms(*(_shares(neighbour_distances(vectors, corpus.seed)) for vectors in (real, once, twice)))


def _shares(distances: Distances) -> tuple[float, ...]:
    counts, _ = np.histogram(distances, (_NEAREST, *BINS[1:], _FURTHEST))
    return tuple(float(count) / len(distances) for count in counts)

"""A tenant's glossary: words that stand for each other, searched beside those of the query. Nothing is reindexed.

An entry is a term with its equivalents; whichever of them a query has, the others are searched too, in the lexical leg,
at `BOOST` of a word of the query. The model of the dense leg reads the query alone.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from query.filters import tenant_filter
from query.names import NameIndex
from query.question_text import normal, words_of
from query.request import Expansion
from search_config import fields
from search_config.client import Engine
from search_config.errors import EngineRejected, InvalidRequest
from search_config.names import Names
from search_config.records import ID_HEX_DIGITS, tenant_id

# What an equivalent counts beside a word of the query: it is what the asker may have meant, not what was written.
BOOST: Final = 0.5
# Entries of one tenant; all are read at once, and every query is compared with them.
MAX_ENTRIES: Final = 5_000
# Equivalents that one query is widened by: each takes clauses of the engine's limit.
MAX_EXPANSIONS: Final = 12
# Seconds after which a process sees another one's change.
FRESH_S: Final = 2.0
PROBLEMS_SHOWN: Final = 10

Text = Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]
Clock = Callable[[], float]


class GlossaryEntry(BaseModel):
    """A term, and what stands for the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    term: Text
    kind: Literal["synonym", "acronym", "spelling"] = "synonym"
    equivalents: Annotated[tuple[Text, ...], Field(min_length=1, max_length=20)]

    @property
    def forms(self) -> tuple[str, ...]:
        """The term, then its equivalents."""
        return tuple(dict.fromkeys((self.term, *self.equivalents)))


@dataclass(frozen=True, slots=True)
class Changed:
    """What an import did."""

    written: int
    deleted: int


def parsed_entries(text: str, where: str) -> tuple[GlossaryEntry, ...]:
    """Entries from JSON lines.

    Raises:
        InvalidRequest: lines that are no entries, by number.
    """
    entries, problems = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            entries.append(GlossaryEntry.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            problems.append(f"line {number}: {'.'.join(map(str, first['loc']))} {first['msg']}".replace("  ", " "))
    if problems:
        raise InvalidRequest(
            f"Not a glossary: {'; '.join(problems[:PROBLEMS_SHOWN])}.",
            where=where,
            remedy='Write lines like {"term": "ועדת כספים", "kind": "acronym", "equivalents": ["ו״כ"]}.',
        )
    return tuple(entries)


class GlossaryStore:
    """Glossaries in the engine, one row an entry."""

    def __init__(self, engine: Engine, names: Names) -> None:
        self._engine = engine
        self._index = names.glossary

    def entries(self, tenant: str) -> tuple[GlossaryEntry, ...]:
        """A tenant's entries by their terms; none where there is no glossary yet.

        Raises:
            TenantError
            EngineRejected, EngineOverloaded, EngineUnreachable
        """
        body = {
            "query": {"bool": {"filter": tenant_filter(tenant)}},
            "size": MAX_ENTRIES,
            "sort": [{fields.TERM: "asc"}],
            "_source": [fields.TERM, fields.KIND, fields.EQUIVALENTS],
        }
        answer = self._engine.search(self._index, body, ignore_unavailable="true")
        return tuple(GlossaryEntry.model_validate(hit["_source"]) for hit in answer["hits"]["hits"])

    def put(self, tenant: str, entries: Sequence[GlossaryEntry], *, replace: bool = False) -> Changed:
        """Write entries; one with a term that is there already takes its place.

        Args:
            replace: whether all other entries of the tenant go.

        Raises:
            InvalidRequest: more entries than a glossary may have.
            EngineRejected: an entry was refused.
        """
        wanted = {self._id(tenant, entry.term): entry for entry in entries}
        there = {self._id(tenant, entry.term) for entry in self.entries(tenant)}
        left = len(wanted) if replace else len(there | wanted.keys())
        if left > MAX_ENTRIES:
            raise InvalidRequest(
                f"The glossary would have {left:,} entries, the limit is {MAX_ENTRIES:,}.", where="glossary"
            )
        gone = there - wanted.keys() if replace else set()
        lines = [json.dumps({"delete": {"_index": self._index, "_id": row}}) for row in sorted(gone)]
        for row, entry in wanted.items():
            lines.append(json.dumps({"index": {"_index": self._index, "_id": row}}))
            lines.append(json.dumps({fields.TENANT: tenant, **entry.model_dump(mode="json")}, ensure_ascii=False))
        self._write(lines)
        return Changed(len(wanted), len(gone))

    def delete(self, tenant: str, term: str) -> bool:
        """Delete one entry; False where there is none."""
        row = self._id(tenant, term)
        if row not in {self._id(tenant, entry.term) for entry in self.entries(tenant)}:
            return False
        self._write([json.dumps({"delete": {"_index": self._index, "_id": row}})])
        return True

    def _write(self, lines: list[str]) -> None:
        if not lines:
            return
        failed = [item for item in self._engine.bulk(lines) if not item.ok]
        self._engine.request("POST", f"/{self._index}/_refresh")
        if failed:
            raise EngineRejected(f"{len(failed)} entries were refused: {failed[0].error}.", where=self._index)

    @staticmethod
    def _id(tenant: str, term: str) -> str:
        return hashlib.sha256(f"{tenant_id(tenant)}\0{normal(term)}".encode()).hexdigest()[:ID_HEX_DIGITS]


class Glossary:
    """Entries prepared for queries."""

    def __init__(self, entries: Sequence[GlossaryEntry]) -> None:
        self._forms: dict[str, list[GlossaryEntry]] = {}
        for entry in entries:
            for form in entry.forms:
                self._forms.setdefault(form, []).append(entry)
        self._index = NameIndex(self._forms, partly=False, slips=False)

    def expansions(self, query: str) -> tuple[Expansion, ...]:
        """What the query is widened by, in its order."""
        if not self._forms:
            return ()
        found, left = [], MAX_EXPANSIONS
        for entry in self._index.find(words_of(normal(query))):
            (term, *_) = entry.names
            others = [
                form for name in entry.names for known in self._forms[name] for form in known.forms if form != term
            ]
            equivalents = tuple(dict.fromkeys(others))[:left]
            left -= len(equivalents)
            if equivalents:
                found.append(Expansion(term=term, equivalents=equivalents))
        return tuple(found)


class Glossaries:
    """Glossaries as searches read them, kept for `FRESH_S` seconds. Safe for several threads."""

    def __init__(self, store: GlossaryStore, clock: Clock = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._lock = Lock()
        self._kept: dict[str, tuple[float, Glossary]] = {}

    def of(self, tenant: str) -> Glossary:
        """A tenant's glossary, at most `FRESH_S` seconds old.

        Raises:
            EngineRejected, EngineOverloaded, EngineUnreachable
        """
        now = self._clock()
        with self._lock:
            kept = self._kept.get(tenant)
        if kept is not None and now - kept[0] < FRESH_S:
            return kept[1]
        glossary = Glossary(self._store.entries(tenant))
        with self._lock:
            self._kept[tenant] = (now, glossary)
        return glossary

    def forget(self, tenant: str) -> None:
        """See a change at once."""
        with self._lock:
            self._kept.pop(tenant, None)

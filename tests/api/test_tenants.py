"""Three tenants with overlapping texts and thousands of random requests: not one row of another tenant.

`MAFTEACH_TEST_REQUESTS=10000 pytest --timeout 0 tests/api/test_tenants.py` sends 10,000; without the variable
some hundred. The same requests find foreign rows at once where the tenant is left out of the filter:
the last test shows it, so that the first ones are known to be able to fail.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import Any

import pytest

from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from query import filters
from search_config import fields
from tests.api.conftest import Service

TENANTS = ("alef", "bet", "gimel")
DOCUMENTS = 6
# Requests by default; few enough for every run of the suite.
REQUESTS = int(os.environ.get("MAFTEACH_TEST_REQUESTS", "600"))
SEED = 20_260
TOPICS = {
    "חניה": "אישור חניה ניתן לתושב אחת לשנה בתמורה ל-{n} שקלים",
    "ארנונה": "הנחה בארנונה של {n} אחוזים ניתנת לגמלאים שהגישו בקשה",
    "מכרז": "המכרז מספר {n} פורסם לספקי שירותי ניקיון במבני ציבור",
    "חופשה": "עובד זכאי ל-{n} ימי חופשה בשנה לפי ההסכם הקיבוצי",
    "lease": "The tenant shall pay a monthly rent of {n} shekels to the landlord",
    "מים": "תעריף המים עומד על {n} אגורות למטר מעוקב במגזר הביתי",
}
WORDS = ("כמה", "מתי", "שקלים", "תושב", "מספר", "rent", "tenant", "הסכם", "לפי", "E-4031", "*", "אחוזים", "?", '"')
HOSTILE = ("tenant:alef", "tenant", "alef OR bet", "* OR tenant:*", '"alef"', "{tenant: bet}", "bet\u202e", "גימל")


@dataclass(frozen=True)
class Shared:
    """Keys and documents of the three."""

    service: Service
    keys: dict[str, dict[str, str]]
    documents: dict[str, dict[str, str]]
    texts: dict[str, str]

    def foreign(self, tenant: str) -> set[str]:
        return {id_ for other, own in self.documents.items() if other != tenant for id_ in own.values()}


@pytest.fixture(scope="module")
def shared(service: Service) -> Shared:
    here = service.services
    ingestor = Ingestor(here.engine, here.info, here.context.embedder, here.settings)
    raws, texts = [], {}
    for tenant in TENANTS:
        for topic, (name, sentence) in enumerate(TOPICS.items()):
            # The same names, sources, titles and words; only the numbers differ, by which rows are told apart.
            number = 1000 * (TENANTS.index(tenant) + 1) + topic
            text = f"---\ntype: contract\ntags: [shared]\nreference: R-{topic}\n---\n# {name}\n\n{sentence}.\n"
            raws.append(
                RawDocument(
                    tenant=tenant, source=f"shared:{name}", name=f"{name}.md", data=text.format(n=number).encode()
                )
            )
    outcomes = ingestor.ingest(raws)
    assert {outcome.state for outcome in outcomes} == {"ready"}, outcomes
    documents: dict[str, dict[str, str]] = {tenant: {} for tenant in TENANTS}
    for raw, outcome in zip(raws, outcomes, strict=True):
        documents[raw.tenant][raw.source] = outcome.document_id
        texts[outcome.document_id] = here.registry.require(raw.tenant, outcome.document_id).text or ""
    keys = {tenant: {"Authorization": f"Bearer {here.keys.create(tenant).key}"} for tenant in TENANTS}
    return Shared(service, keys, documents, texts)


def query(rng: random.Random) -> str:
    words = rng.choices([*TOPICS, *WORDS], k=rng.randint(1, 5))
    if rng.random() < 0.1:
        words.append(rng.choice(HOSTILE))
    return " ".join(words)


def narrowing(rng: random.Random, shared: Shared, tenant: str) -> dict[str, Any]:
    """Filters, some of which name documents of others."""
    every = [id_ for own in shared.documents.values() for id_ in own.values()]
    choices: dict[str, Any] = {
        "document_id": rng.sample(every, k=rng.randint(1, 6)),
        "tags": ["shared"],
        "type": ["contract"],
        "reference": [f"R-{rng.randrange(DOCUMENTS)}"],
        "language": [rng.choice(["he", "en"])],
        "groups": [rng.choice(TENANTS)],
    }
    return {name: choices[name] for name in rng.sample(list(choices), k=rng.randint(0, 2))}


def ask(rng: random.Random, shared: Shared, tenant: str) -> Any:
    """One random request of a tenant."""
    client, headers = shared.service.client, shared.keys[tenant]
    kind = rng.choices(("search", "get", "list", "document", "text", "file", "answer"), (40, 10, 5, 10, 10, 5, 20))[0]
    if kind == "get":
        return client.get("/search", params={"q": query(rng), "size": rng.randint(1, 100)}, headers=headers)
    if kind == "list":
        return client.get("/documents", params={"size": rng.randint(1, 10)}, headers=headers)
    if kind in ("document", "text", "file"):
        every = [id_ for own in shared.documents.values() for id_ in own.values()]
        path = f"/documents/{rng.choice(every)}"
        return client.get(path if kind == "document" else f"{path}/{kind}", headers=headers)
    narrowed = narrowing(rng, shared, tenant)
    if kind == "answer":
        return client.post("/answer", json={"question": query(rng), "filters": narrowed}, headers=headers)
    body = {
        "query": query(rng),
        "size": rng.randint(1, 100),
        "mode": rng.choice(["auto", "hybrid", "lexical", "dense"]),
        "group": rng.random() < 0.3,
        "explain": rng.random() < 0.3,
        "filters": narrowed,
    }
    return client.post("/search", json=body, headers=headers)


def leaks(answer: Any, shared: Shared, tenant: str) -> set[str]:
    """What of other tenants is in an answer: ids of their documents that were not asked for, and their numbers."""
    if answer.status_code != 200:
        return set()
    text = answer.text
    if "json" in answer.headers["content-type"]:
        body = answer.json()
        if isinstance(body, dict):
            # The filters come back as they were sent; they may name foreign documents, which the sender knew.
            body.pop("filters", None)
            if isinstance(body.get("search"), dict):
                body["search"].pop("filters", None)
        text = repr(body)
    own = TENANTS.index(tenant) + 1
    numbers = {str(1000 * other + topic) for other in range(1, 4) if other != own for topic in range(DOCUMENTS)}
    found = {id_ for id_ in shared.foreign(tenant) if id_ in text}
    passages = answer.json() if "json" in answer.headers["content-type"] else answer.text
    contents = _contents(passages)
    return found | {number for number in numbers for content in contents if number in content}


def _contents(value: Any) -> list[str]:
    """Texts of documents in an answer."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        named = [value[name] for name in ("content", "quote", "answer") if isinstance(value.get(name), str)]
        return named + [text for item in value.values() if isinstance(item, dict | list) for text in _contents(item)]
    return [text for item in value for text in _contents(item)] if isinstance(value, list) else []


def run(shared: Shared, count: int, seed: int) -> tuple[list[set[str]], int, dict[int, int]]:
    """Leaks of `count` requests; how many rows were seen; statuses."""
    rng = random.Random(seed)
    leaked, rows, statuses = [], 0, dict[int, int]()
    for _ in range(count):
        tenant = rng.choice(TENANTS)
        answer = ask(rng, shared, tenant)
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
        if found := leaks(answer, shared, tenant):
            leaked.append(found)
        rows += sum(id_ in answer.text for id_ in shared.documents[tenant].values())
    return leaked, rows, statuses


def test_random_requests_of_three_tenants_see_nothing_of_each_other(shared: Shared) -> None:
    leaked, rows, statuses = run(shared, REQUESTS, SEED)
    assert leaked == []
    # It is no proof where nothing is found at all.
    assert rows > REQUESTS
    assert set(statuses) <= {200, 404, 422}, statuses
    assert statuses[200] > REQUESTS // 2


def test_totals_do_not_change_when_other_tenants_grow(shared: Shared) -> None:
    client, headers = shared.service.client, shared.keys["alef"]

    def seen() -> list[Any]:
        found = []
        for name in TOPICS:
            body = client.post("/search", json={"query": f"כמה {name}", "size": 100}, headers=headers).json()
            found.append((body["total"], body["refused"], [(hit["chunk_id"], hit["rank"]) for hit in body["hits"]]))
        return found

    before = seen()
    here = shared.service.services
    ingestor = Ingestor(here.engine, here.info, here.context.embedder, here.settings)
    outcomes = ingestor.ingest(
        [
            RawDocument(tenant="dalet", source=f"s:{number}", name=f"{number}.md",
                        data=f"# חניה {number}\n\nאישור חניה ניתן לתושב אחת לשנה ללא תשלום {number}".encode())
            for number in range(20)
        ]
    )  # fmt: skip
    try:
        assert [row[:2] for row in seen()] == [row[:2] for row in before]
        assert [{id_ for id_, _ in row[2]} for row in seen()] == [{id_ for id_, _ in row[2]} for row in before]
    finally:
        for outcome in outcomes:
            here.registry.delete("dalet", outcome.document_id)


def test_without_the_tenant_in_the_filter_the_first_test_fails(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demonstration: the one clause is taken out of the one filter builder, and the same requests leak."""
    whole = filters.tenant_filter

    def without(*args: Any, **named: Any) -> list[filters.Clause]:
        return [clause for clause in whole(*args, **named) if fields.TENANT not in clause.get("term", {})]

    import query.superseded

    monkeypatch.setattr(query.superseded, "tenant_filter", without)
    leaked, _, _ = run(shared, 60, SEED)
    assert len(leaked) > 10

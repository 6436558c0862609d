"""Documents restricted to groups: seen by callers of these groups on every route, and by nobody else."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from api.caller import Permission, groups_of, permissions_of
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from search_config.errors import InvalidRequest
from tests.api.conftest import Service
from tests.api.problems import assert_problem

TENANT = "grouped"
BODIES = {
    "open": ("שכר הדירה של המשרד הפתוח הוא 4,100 שקלים לחודש", ()),
    "finance": ("שכר הדירה של משרד הכספים הוא 5,200 שקלים לחודש", ("כספים",)),
    "legal": ("שכר הדירה של הלשכה המשפטית הוא 6,300 שקלים לחודש", ("legal",)),
    "both": ("שכר הדירה של האגף המשותף הוא 7,400 שקלים לחודש", ("legal", "כספים")),
}
SEEN = {
    (): {"open"},
    ("כספים",): {"open", "finance", "both"},
    ("legal",): {"open", "legal", "both"},
    ("legal", "כספים"): {"open", "finance", "legal", "both"},
    ("another",): {"open"},
    ("*",): {"open"},
}
QUESTION = "כמה שכר הדירה לחודש"


@dataclass(frozen=True)
class Grouped:
    service: Service
    ids: dict[str, str]

    def key(self, groups: tuple[str, ...], *permissions: Permission) -> dict[str, str]:
        allowed = permissions or (Permission.READ, Permission.WRITE)
        created = self.service.services.keys.create(TENANT, groups=groups, permissions=allowed)
        return {"Authorization": f"Bearer {created.key}"}

    def named(self, ids: set[str]) -> set[str]:
        return {name for name, id_ in self.ids.items() if id_ in ids}


@pytest.fixture(scope="module")
def grouped(service: Service) -> Grouped:
    here = service.services
    ingestor = Ingestor(here.engine, here.info, here.context.embedder, here.settings)
    raws = [
        RawDocument(tenant=TENANT, source=f"test:{name}", name=f"{name}.md", data=f"# {name}\n\n{text}".encode(),
                    groups=groups)
        for name, (text, groups) in BODIES.items()
    ]  # fmt: skip
    outcomes = ingestor.ingest(raws)
    return Grouped(service, {name: outcome.document_id for name, outcome in zip(BODIES, outcomes, strict=True)})


@pytest.mark.parametrize("groups", SEEN)
def test_every_read_shows_what_the_groups_may_see(grouped: Grouped, groups: tuple[str, ...]) -> None:
    client, headers = grouped.service.client, grouped.key(groups)
    for mode in ("auto", "lexical", "dense"):
        found = client.post("/search", json={"query": QUESTION, "mode": mode, "size": 100}, headers=headers).json()
        assert grouped.named({hit["document_id"] for hit in found["hits"]}) == SEEN[groups], mode
        assert found["total"] == len(SEEN[groups])
    got = client.get("/search", params={"q": QUESTION, "size": 100}, headers=headers).json()
    assert grouped.named({hit["document_id"] for hit in got["hits"]}) == SEEN[groups]
    answered = client.post("/answer", json={"question": QUESTION}, headers=headers).json()
    assert grouped.named({hit["document_id"] for hit in answered["search"]["hits"]}) <= SEEN[groups]
    assert grouped.named({one["document_id"] for one in answered["citations"]}) <= SEEN[groups]
    for name, (text, _) in BODIES.items():
        assert name in SEEN[groups] or text not in str(answered)
    assert grouped.named({row["id"] for row in client.get("/documents", headers=headers).json()}) == SEEN[groups]
    for name, id_ in grouped.ids.items():
        for path in (f"/documents/{id_}", f"/documents/{id_}/text"):
            answer = client.get(path, headers=headers)
            if name in SEEN[groups]:
                assert answer.status_code == 200
            else:
                assert_problem(answer, 404, "not_found")


def test_counts_are_of_what_is_seen(grouped: Grouped) -> None:
    registry = grouped.service.services.registry
    for groups, seen in SEEN.items():
        assert registry.summary(TENANT, groups=groups).documents == len(seen)
    # An operator on the command line sees all.
    assert registry.summary(TENANT).documents == len(BODIES)


@pytest.mark.parametrize(("asked", "seen"), [(["legal"], {"legal", "both"}), (["כספים"], set()), (["*"], set())])
def test_a_filter_can_only_narrow(grouped: Grouped, asked: list[str], seen: set[str]) -> None:
    body = {"query": QUESTION, "size": 100, "filters": {"groups": asked}}
    found = grouped.service.client.post("/search", json=body, headers=grouped.key(("legal",))).json()
    assert grouped.named({hit["document_id"] for hit in found["hits"]}) == seen


def test_what_is_not_seen_can_not_be_changed(grouped: Grouped) -> None:
    client, headers = grouped.service.client, grouped.key(())
    hidden = grouped.ids["legal"]
    assert_problem(client.delete(f"/documents/{hidden}", headers=headers), 404, "not_found")
    for action in ("retry", "release"):
        assert_problem(client.post(f"/documents/{hidden}/{action}", headers=headers), 404, "not_found")
    replaced = {"text": "תוכן אחר", "name": "legal.md", "source": "test:legal"}
    assert_problem(client.post("/documents", json=replaced, headers=headers), 403, "not_permitted")
    assert "6,300" in str(grouped.service.services.registry.require(TENANT, hidden).text)


def test_a_document_is_restricted_to_own_groups_alone(grouped: Grouped) -> None:
    upload: dict[str, Any] = {"text": "טקסט", "source": f"test:{uuid.uuid4()}", "groups": ["legal"]}
    answer = grouped.service.client.post("/documents", json=upload, headers=grouped.key(("כספים",)))
    assert_problem(answer, 403, "not_permitted")


def test_names_of_groups_and_permissions() -> None:
    assert groups_of(["א", "b", "א"]) == ("א", "b")
    assert permissions_of(["read", "review", "read"]) == (Permission.READ, Permission.REVIEW)
    for wrong in ([""], ["a\nb"], ["a\u202eb"], ["x" * 101], ["\x00"], [str(number) for number in range(101)]):
        with pytest.raises(InvalidRequest):
            groups_of(wrong)
    with pytest.raises(InvalidRequest) as caught:
        permissions_of(["read", "admin", "*"])
    assert "admin" in str(caught.value)

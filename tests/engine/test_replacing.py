"""Through the whole of ingest: what a document says of another one marks that one, whichever came first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ingest.compose import make_ingestor
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import Embedder
from search_config.client import Engine
from tests.conftest import MakeIndex

OLD = "נוהל פינוי אשפה\nנוהל מס' 12/2019\n\nהפינוי נעשה פעמיים בשבוע, בימי ראשון ורביעי."
NEW = "נוהל פינוי אשפה מעודכן\nנוהל מס' 7/2024\n\nנוהל זה מחליף את נוהל 12/2019. הפינוי נעשה שלוש פעמים בשבוע."


@pytest.fixture
def ingestor(engine: Engine, embedder: Embedder, make_index: MakeIndex) -> Iterator[Ingestor]:
    info, settings = make_index()
    made = make_ingestor(engine, info, embedder, settings)
    yield made
    made.close()


def raw(name: str, text: str) -> RawDocument:
    return RawDocument(tenant="a", source=name, name=f"{name}.txt", data=text.encode())


@pytest.mark.parametrize("batches", [[["old", "new"]], [["new", "old"]], [["old"], ["new"]], [["new"], ["old"]]])
def test_the_older_one_is_marked(ingestor: Ingestor, batches: list[list[str]]) -> None:
    texts = {"old": OLD, "new": NEW}
    ids = {}
    for batch in batches:
        for name, outcome in zip(batch, ingestor.ingest([raw(name, texts[name]) for name in batch]), strict=True):
            assert outcome.reason is None
            ids[name] = outcome.document_id
    assert ingestor.registry.require("a", ids["old"]).filter_fields.superseded_by == ids["new"]
    assert ingestor.registry.require("a", ids["new"]).filter_fields.superseded_by is None
    ingestor.registry.delete("a", ids["new"])
    assert ingestor.registry.require("a", ids["old"]).filter_fields.superseded_by is None


def test_a_version_that_replaces_nothing_any_more_takes_its_mark_back(ingestor: Ingestor) -> None:
    old, _ = ingestor.ingest([raw("old", OLD), raw("new", NEW)])
    ingestor.ingest([raw("new", NEW.replace("נוהל זה מחליף את נוהל 12/2019. ", ""))])
    assert ingestor.registry.require("a", old.document_id).filter_fields.superseded_by is None

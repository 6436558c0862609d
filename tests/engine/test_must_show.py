"""What the project promises of whole documents, with the embedded model and the example corpus in a real index."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from ingest.worker import ingest_paths
from models.base import Embedder, Vectors
from query import build
from query.filters import tenant_filter
from query.profile import load_profile
from query.request import Mode, SearchRequest, SearchResult
from query.search import SearchContext, search
from search_config import fields
from search_config.client import Engine
from search_config.errors import IndexMismatch
from search_config.install import attach, install, uninstall
from search_config.names import Names
from search_config.settings import Settings

EXAMPLES: Final = Path(__file__).parents[2] / "examples" / "documents"
PAIRS: Final = 40_000
# Short passages, so that the corpus has some 350 and their pairs are more than enough.
TARGET: Final = 512
# Vectors are stored as float32: cosines and squared distances of unit vectors agree to its rounding.
FLOAT32_TOLERANCE: Final = 2e-6


@pytest.fixture(scope="module")
def corpus(engine: Engine, settings: Settings, embedder: Embedder) -> Iterator[SearchContext]:
    """An index of the module's own; the tenant `demo` has the example documents."""
    own = settings.model_copy(update={"index_prefix": f"t{uuid.uuid4().hex[:10]}", "chunk_target": TARGET})
    info = install(engine, own, embedder.description)
    report = ingest_paths(Ingestor(engine, info, embedder, own), [EXAMPLES], tenant="demo")
    assert not report.failed
    yield SearchContext(engine, info, embedder, load_profile().checked_for(info), own)
    uninstall(engine, Names(prefix=own.index_prefix))


def add(context: SearchContext, tenant: str, texts: dict[str, str]) -> dict[str, str]:
    """Ingest Markdown texts by name; gives their names by document id."""
    ingestor = Ingestor(context.engine, context.info, context.embedder, context.settings)
    raws = [
        RawDocument(tenant=tenant, source=name, name=f"{name}.md", data=text.encode()) for name, text in texts.items()
    ]
    outcomes = ingestor.ingest(raws)
    assert all(outcome.reason is None for outcome in outcomes)
    return {outcome.document_id: outcome.source for outcome in outcomes}


def ask(context: SearchContext, query: str, *, tenant: str, **more: Any) -> SearchResult:
    return search(SearchRequest(tenant=tenant, query=query, **more), context)


@pytest.mark.parametrize("mode", ["auto", "lexical", "dense"])
@pytest.mark.parametrize("other", ["מה קורה בית הספר", "מה קורה בית ספר", "מה קורה לבית הספר"])
def test_a_prefix_does_not_change_which_document_is_first(corpus: SearchContext, other: str, mode: Mode) -> None:
    one = ask(corpus, "מה קורה בבית הספר", tenant="demo", mode=mode).hits[0]
    assert "בית הספר" in one.content
    assert ask(corpus, other, tenant="demo", mode=mode).hits[0].document_id == one.document_id


HOLDER = (
    "# פרוטוקול ועדת תחזוקה\n\n## סדר היום\n\nבישיבה נדונו ליקויים בגינון, בתאורת רחוב, בניקיון מבני ציבור ובהסעות. "
    "בין השאר נמסר כי לוח הבקרה במשאבה הציג E-4031, והטכנאי ניתק את המתח והמתין עשר דקות. הוועדה ביקשה דוח נוסף על "
    "הריהוט בגני הילדים.\n"
)


@pytest.fixture(scope="module")
def faults(corpus: SearchContext) -> dict[str, str]:
    """One document that mentions E-4031 in passing, many that answer as if E-4032 had been asked for, and others."""
    texts = {"holder": HOLDER}
    for number in range(105):  # more than a leg's candidates
        texts[f"neighbour-{number}"] = (
            f"# תקלה E-4032\n\nמה עושים בתקלה E-4032? בתקלה E-4032 מאפסים את החיישן באתר {number}.\n"
        )
    for number in range(20):
        texts[f"other-{number}"] = f"# תקלות {number}\n\nמה עושים בתקלה במזגן? פונים למוקד {number} ופותחים קריאה.\n"
    return add(corpus, "faults", texts)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "hybrid"])
@pytest.mark.parametrize(
    "query",
    [
        "E-4031",
        "e-4031",
        "בE-4031",
        "ל-E-4031",
        "תקלה E-4031",
        "מה עושים בתקלה E-4031?",
        "מה עושים בתקלה בE-4031",
        "what to do when E-4031 is shown",
    ],
)
def test_the_holder_of_an_identifier_stands_above_all_neighbours(
    corpus: SearchContext, faults: dict[str, str], query: str, mode: Mode
) -> None:
    result = ask(corpus, query, tenant="faults", mode=mode, size=100)
    assert faults[result.hits[0].document_id] == "holder"


def test_a_fact_in_the_last_sentence_of_a_long_paragraph_is_found(corpus: SearchContext) -> None:
    """3,000 characters in one paragraph are several times the model's window: what is cut off would be lost."""
    filler = (
        "הוועדה סקרה את מצב הגנים הציבוריים, את לוח הזמנים של הניקיון ואת תלונות התושבים על רעש בשעות הערב. ",
        "מנהלת האגף הציגה את תקציב התאורה, והחברים ביקשו פירוט של העלויות לפי שכונות ולפי רבעונים. ",
        "נציג הקבלן מסר שהעבודות בכביש הראשי יסתיימו לפני החורף, אם לא יימצאו תשתיות שאינן במפות. ",
    )
    paragraph = ""
    while len(paragraph) < 3_000:
        paragraph += filler[len(paragraph) % 3]
    fact = "הקוד של מחסן הציוד ליד בריכת השחייה נמצא אצל סבטלנה בלבד."
    long = f"# סיכום ישיבה\n\n{paragraph}{fact}\n"
    shorter = "# סיכום אחר\n\nבישיבה דנו בבריכת השחייה העירונית ובמחירי הכניסה לעונה הקרובה.\n"
    names = add(corpus, "last", {"long": long, "shorter": shorter})
    for query in ("אצל מי הקוד של מחסן הציוד?", "מי יכול לפתוח את המחסן שליד הבריכה"):
        for mode in ("auto", "dense"):
            hit = ask(corpus, query, tenant="last", mode=mode).hits[0]
            assert names[hit.document_id] == "long", (query, mode)
            assert fact in hit.content, (query, mode)
    assert corpus.embedder.count_tokens([paragraph])[0] > corpus.embedder.passage_window


def stored_vectors(context: SearchContext) -> tuple[list[str], Vectors]:
    """Ids and vectors `(n, dim)` of all chunks of `demo`, read back from the index."""
    body = {
        "size": 1_000,
        "query": {"bool": {"filter": tenant_filter("demo")}},
        "_source": [fields.EMBEDDING],
        "sort": [{fields.CHUNK_ID: "asc"}],
    }
    rows = context.engine.search(context.info.index, body)["hits"]["hits"]
    return [row["_id"] for row in rows], np.asarray([row["_source"][fields.EMBEDDING] for row in rows], np.float32)


def test_cosine_and_euclidean_distance_agree_on_stored_vectors(corpus: SearchContext) -> None:
    """1 - cos = d²/2 holds exactly where both vectors are of unit length, and fails by their error where not."""
    ids, vectors = stored_vectors(corpus)
    first, second = np.triu_indices(len(vectors), k=1)
    assert len(first) >= PAIRS
    squared = np.empty(len(first))
    for low, high in pairwise([*range(0, len(first), 10_000), len(first)]):
        part = vectors[first[low:high]].astype(np.float64) - vectors[second[low:high]]
        squared[low:high] = (part**2).sum(axis=1)
    cosines = (vectors.astype(np.float64) @ vectors.T.astype(np.float64))[first, second]
    assert np.abs((1 - cosines) - squared / 2).max() < FLOAT32_TOLERANCE
    assert np.ptp(cosines) > 0.1, "vectors of real passages differ"
    # The engine's number for the same pairs is (1 + cos) / 2.
    body = build.exact_knn_body(vectors[0].tolist(), tenant_filter("demo"), candidates=len(ids))
    found = {row["_id"]: row["_score"] for row in corpus.engine.search(corpus.info.index, body)["hits"]["hits"]}
    engine = np.asarray([build.cosine_of(found[name]) for name in ids])
    assert np.abs(engine - vectors @ vectors[0]).max() < FLOAT32_TOLERANCE


def test_vectors_stay_out_of_answers(corpus: SearchContext) -> None:
    text = ask(corpus, "אישור חניה לתושב", tenant="demo").model_dump_json()
    assert fields.EMBEDDING not in text
    source = corpus.engine.search(corpus.info.index, {"size": 1, "_source": list(build.SOURCE_FIELDS)})
    assert fields.EMBEDDING not in source["hits"]["hits"][0]["_source"]


def test_an_index_of_another_model_of_the_same_dimension_is_refused(corpus: SearchContext) -> None:
    """With the way out named; templates are left as they are."""
    other = corpus.info.model.model_copy(update={"revision": "another"})
    assert other.dim == corpus.info.model.dim
    for enter in (attach, install):
        with pytest.raises(IndexMismatch) as caught:
            enter(corpus.engine, corpus.settings, other)
        assert corpus.info.model.identity in caught.value.what
        assert other.identity in caught.value.what
        assert caught.value.where == corpus.info.index
        assert "MAFTEACH_EMBEDDER" in str(caught.value.remedy)
        assert "mafteach migrate" in str(caught.value.remedy)
    assert attach(corpus.engine, corpus.settings, corpus.info.model).index == corpus.info.index


def test_front_matter_is_never_content(corpus: SearchContext) -> None:
    text = "---\ntitle: נוהל\nclient: קפיצהרחוקה\n---\n# כותרת\n\nגוף המסמך.\n\n```\n## אין כאן כותרת\n```\n"
    names = add(corpus, "front", {"front": text})
    result = ask(corpus, "קפיצהרחוקה", tenant="front", mode="lexical")
    assert result.hits == ()
    (hit,) = ask(corpus, "גוף המסמך", tenant="front").hits
    assert names[hit.document_id] == "front"
    assert hit.section == "כותרת"
    assert "## אין כאן כותרת" in hit.content

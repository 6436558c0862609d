"""Evidence in a real index: written once, lost by nobody, unreachable for other tenants and groups; replayed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from evaluation.evidence.base import now
from evaluation.evidence.cases import Case
from evaluation.evidence.claim_sets import ClaimSet, first_claims, split_claim
from evaluation.evidence.file import CaseFile
from evaluation.evidence.folder import load_case
from evaluation.evidence.freeze import freeze, generation_identity
from evaluation.evidence.notes import Note
from evaluation.evidence.pack import build_pack
from evaluation.evidence.replay import replay
from evaluation.evidence.store import EvidenceStore
from evaluation.evidence.temporary import TemporarySystem, temporary_system
from evaluation.evidence.verify import verify_pack
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import Embedder
from query.answer_request import AnswerRequest
from query.answering import answer
from query.request import SearchRequest
from search_config.client import Engine
from search_config.errors import AlreadyExists, EngineRejected, InvalidRequest, InvalidTenant, NotFound
from search_config.names import Names
from search_config.settings import Settings
from tests.unit.evidence.cases import AT, case, file, verdict

REVIEWERS = 20
PARKING = (
    "# נוהל אישורי חניה\n\n## תושבים\nתושב רשאי לקבל אישור חניה אחד לכל רכב הרשום על שמו, ותוקפו שנה מיום ההנפקה.\n"
)


@pytest.fixture(scope="module")
def system(
    engine: Engine, settings: Settings, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TemporarySystem]:
    folder = tmp_path_factory.mktemp("documents")
    (folder / "parking.md").write_text(PARKING, encoding="utf-8")
    with temporary_system(folder, "demo", engine=engine, embedder=embedder, settings=settings) as made:
        yield made


@pytest.fixture
def names(system: TemporarySystem) -> Names:
    return system.context.info.names


@pytest.fixture
def store(engine: Engine, names: Names) -> EvidenceStore:
    return EvidenceStore(engine, names)


def unique(request: pytest.FixtureRequest, **others: object) -> Case:
    """A case of one test's own."""
    return case(**others).model_copy(update={"query": request.node.name})  # type: ignore[arg-type]


def stored(store: EvidenceStore, one: Case) -> CaseFile:
    case_id = store.add_case(one)
    store.add_claims(one.tenant, first_claims(one, at=AT))
    return store.read(one.tenant, case_id)


def test_a_case_is_written_once_by_whatever_way(
    store: EvidenceStore, engine: Engine, names: Names, request: pytest.FixtureRequest
) -> None:
    one = unique(request)
    case_id = store.add_case(one)
    with pytest.raises(AlreadyExists):
        store.add_case(one)
    (row,) = engine.search(names.evidence, {"query": {"term": {"case_id": case_id}}})["hits"]["hits"]
    forged = {**row["_source"], "author": "someone else"}
    # Straight to the engine, past all of our code.
    for method, path, body in (
        ("PUT", f"/{names.evidence}/_doc/{row['_id']}", forged),
        ("PUT", f"/{names.evidence}/_create/{row['_id']}", forged),
        ("POST", f"/{names.evidence}/_update/{row['_id']}", {"doc": {"author": "x"}}),
        ("DELETE", f"/{names.evidence}/_doc/{row['_id']}", None),
    ):
        with pytest.raises(EngineRejected):
            engine.request(method, path, body=body)
    assert store.read("demo", case_id).case == one


def test_another_answer_is_another_case(store: EvidenceStore, request: pytest.FixtureRequest) -> None:
    one = unique(request)
    other = one.model_copy(update={"answer": f"{one.answer} ועוד."})
    assert store.add_case(one) != store.add_case(other)


def test_a_decision_is_never_written_over_and_a_changed_mind_is_a_new_one(
    store: EvidenceStore, request: pytest.FixtureRequest
) -> None:
    known = stored(store, unique(request))
    claim = known.claims.claims[0].claim_id
    first = known.next_decision(claim, verdict(), reviewer="dana", at=AT, supersedes=None)
    store.add_decision("demo", first)
    for second in (first, first.model_copy(update={"verdict": verdict("not_supported")})):
        with pytest.raises(AlreadyExists):
            store.add_decision("demo", second)
    after = store.read("demo", known.case.case_id)
    assert after.decisions == (first,)
    changed = after.next_decision(
        claim, verdict("not_supported"), reviewer="dana", at=AT + timedelta(seconds=1), supersedes=first.decision_id
    )
    store.add_decision("demo", changed)
    last = store.read("demo", known.case.case_id)
    assert last.decisions == (first, changed)
    assert last.current[claim] == (changed,)


def test_twenty_reviewers_at_once_lose_nothing(store: EvidenceStore, request: pytest.FixtureRequest) -> None:
    known = stored(store, unique(request))
    claims = [claim.claim_id for claim in known.claims.claims]

    def review(number: int) -> list[str]:
        made = [
            known.next_decision(claim, verdict(), reviewer=f"reviewer {number}", at=now(), supersedes=None)
            for claim in claims
        ]
        return [store.add_decision("demo", one) for one in made]

    with ThreadPoolExecutor(REVIEWERS) as pool:
        written = [one for ids in pool.map(review, range(REVIEWERS)) for one in ids]
    after = store.read("demo", known.case.case_id)
    assert sorted(one.decision_id for one in after.decisions) == sorted(written)
    assert len(written) == REVIEWERS * len(claims)


def test_of_the_same_decision_sent_at_once_one_is_kept(store: EvidenceStore, request: pytest.FixtureRequest) -> None:
    known = stored(store, unique(request))
    claim = known.claims.claims[0].claim_id

    def decide(number: int) -> str | None:
        support = verdict("supported" if number % 2 else "not_supported")
        try:
            return store.add_decision(
                "demo", known.next_decision(claim, support, reviewer="dana", at=now(), supersedes=None)
            )
        except AlreadyExists:
            return None

    with ThreadPoolExecutor(REVIEWERS) as pool:
        kept = [one for one in pool.map(decide, range(REVIEWERS)) if one]
    assert len(kept) == 1
    assert [one.decision_id for one in store.read("demo", known.case.case_id).decisions] == kept


def test_claims_changed_at_once_conflict_and_stale_decisions_are_refused(
    store: EvidenceStore, request: pytest.FixtureRequest
) -> None:
    known = stored(store, unique(request))
    last = known.claims.claims[-1]

    def edit(word: str) -> ClaimSet:
        return split_claim(known.case, known.claims, last.claim_id, word, author="dana", at=AT)

    stale = known.next_decision(last.claim_id, verdict(), reviewer="dana", at=AT, supersedes=None)
    store.add_claims("demo", edit("ימי"))
    with pytest.raises(AlreadyExists):
        store.add_claims("demo", edit("שבעה"))
    with pytest.raises(InvalidRequest):
        store.add_decision("demo", stale)
    assert store.read("demo", known.case.case_id).claims == edit("ימי")


def test_nothing_of_a_tenant_is_there_for_another(store: EvidenceStore, request: pytest.FixtureRequest) -> None:
    known = stored(store, unique(request))
    case_id = known.case.case_id
    decision = known.next_decision(known.claims.claims[0].claim_id, verdict(), reviewer="eve", at=AT, supersedes=None)
    for call in (
        lambda tenant: store.read(tenant, case_id),
        lambda tenant: store.find(tenant, case_id),
        lambda tenant: store.add_claims(tenant, first_claims(known.case, at=AT)),
        lambda tenant: store.add_decision(tenant, decision),
        lambda tenant: store.add_note(tenant, Note(case_id=case_id, author="eve", at=AT, text="x")),
    ):
        with pytest.raises(NotFound):
            call("other")
        with pytest.raises(InvalidTenant):
            call("*")
    assert case_id not in {one.case_id for one in store.cases("other")}
    assert case_id in {one.case_id for one in store.cases("demo")}
    assert store.read("demo", case_id).decisions == ()


def test_a_case_that_shows_a_closed_document_is_closed(store: EvidenceStore, request: pytest.FixtureRequest) -> None:
    one = unique(request, groups=("hr",))
    case_id = store.add_case(one)
    for groups in ((), ("it",)):
        with pytest.raises(NotFound):
            store.read("demo", case_id, groups=groups)
        assert case_id not in {found.case_id for found in store.cases("demo", groups=groups)}
    assert store.read("demo", case_id, groups=("hr",)).case == one


@pytest.fixture
def frozen(system: TemporarySystem) -> CaseFile:
    """A real answer, frozen."""
    request = AnswerRequest(search=SearchRequest(tenant="demo", query="כמה אישורי חניה מגיעים לתושב?"))
    result = answer(request, system.context, model=None)
    made = freeze(
        result,
        tenant="demo",
        owner="dana",
        registry=system.registry,
        info=system.context.info,
        generation=generation_identity(result, app_version="0"),
        answered_at=AT,
    )
    return file(made)


def test_a_real_answer_is_frozen_with_all_that_it_was_made_from(frozen: CaseFile) -> None:
    one = frozen.case
    assert one.outcome == "answer"
    assert one.passages
    assert "אישור חניה אחד" in one.passages[0].text
    assert one.corpus.documents_total == 1
    assert one.corpus.complete
    assert one.retrieval["hits"][0]["scores"]
    assert one.retrieval_identity.profile
    assert one.generation_identity.method == "extractive"
    frozen.check()
    assert any(row.attachment_seen == "attached" for row in frozen.rows)


def test_a_replay_of_the_same_system_compares_every_row_and_makes_a_pack(
    frozen: CaseFile, system: TemporarySystem
) -> None:
    run = replay(frozen, context=system.context, registry=system.registry, at=now())
    assert (run.comparable, run.changes) == (True, ())
    assert [row.same for row in run.rows] == [True] * len(frozen.rows)
    assert {one.how for one in run.refound} == {"locator"}
    again = replay(frozen, context=system.context, registry=system.registry, at=now())
    assert again.run_id != run.run_id
    assert verify_pack(build_pack([frozen], runs={run.run_id: run})).holds


def test_a_replay_over_another_corpus_says_what_changed_and_why_rows_cannot_be_compared(
    frozen: CaseFile, system: TemporarySystem
) -> None:
    context = system.context
    changed = PARKING.replace("אישור חניה אחד לכל רכב", "שני אישורי חניה לכל רכב").replace("# נוהל", "# הנוהל החדש:")
    ingestor = Ingestor(context.engine, context.info, context.embedder, context.settings)
    try:
        for text in (changed,):
            ingestor.ingest([RawDocument(tenant="demo", source="parking.md", name="parking.md", data=text.encode())])
        run = replay(frozen, context=context, registry=system.registry, at=now())
        assert not run.comparable
        assert run.rows == ()
        assert any("corpus" in why for why in run.why_not)
        assert {"corpus", "passages"} <= {change.stage for change in run.changes}
    finally:
        ingestor.ingest([RawDocument(tenant="demo", source="parking.md", name="parking.md", data=PARKING.encode())])


def test_a_folder_replays_what_the_index_holds(frozen: CaseFile, system: TemporarySystem, tmp_path: Path) -> None:
    from evaluation.evidence.folder import save_case

    save_case(tmp_path / "one", frozen)
    loaded = load_case(tmp_path / "one")
    run = replay(replace(loaded), context=system.context, registry=system.registry, at=now())
    assert run.case_id == frozen.case.case_id

"""Evidence in a real index: written once, lost by nobody, unreachable for other tenants and groups; replayed."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, timedelta
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
from ingest.compose import make_ingestor
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from ingest.registry import Registry
from models.base import Embedder
from query.answer_request import AnswerRequest
from query.answer_result import AnswerResult
from query.answering import answer
from query.profile import load_profile
from query.request import SearchRequest
from query.routing import Router
from query.search import SearchContext
from search_config.client import Engine
from search_config.errors import AlreadyExists, EngineRejected, InvalidRequest, InvalidTenant, NotFound
from search_config.install import install, uninstall
from search_config.names import Names
from search_config.settings import Settings
from tests.unit.evidence.cases import AT, case, file, verdict

REVIEWERS = 20
CONTRACTS = {
    "garden.txt": """חוזה שירותי גינון

נערך ונחתם ביום 12.3.2023 בין עיריית גבעת הדר (להלן: "המזמין") לבין אלון גינון בע"מ (להלן: "הספק").
""",
    "lifts.txt": """חוזה תחזוקת מעליות

נערך ונחתם ביום 5.9.2023 בין עיריית גבעת הדר (להלן: "המזמין") לבין מעלות בע"מ (להלן: "הספק").
""",
}
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
    request = AnswerRequest(search=SearchRequest(tenant="demo", query="כמה אישורי חניה רשאי תושב לקבל?"))
    result = answer(request, system.context, model=None)
    made = freeze(
        result,
        tenant="demo",
        owner="dana",
        registry=system.registry,
        engine=system.context.engine,
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


def test_a_replay_by_another_generation_says_what_writes_otherwise(frozen: CaseFile, system: TemporarySystem) -> None:
    def write(request: SearchRequest) -> AnswerResult:
        return answer(AnswerRequest(search=request), system.context, model=None)

    run = replay(
        frozen, context=system.context, registry=system.registry, at=now(), answerer=write, app_version="another"
    )
    assert [(one.stage, one.what, one.before, one.after) for one in run.changes] == [
        ("generation", "app_version", "0", "another")
    ]
    # The answer and its claims are the same: rows can be compared all the same.
    assert run.comparable
    assert run.answer == frozen.case.answer


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


@pytest.fixture(scope="module")
def contracts(engine: Engine, settings: Settings, embedder: Embedder) -> Iterator[SearchContext]:
    """Contracts that the router counts by their fields."""
    own = settings.model_copy(update={"index_prefix": f"t{uuid.uuid4().hex[:10]}"})
    info = install(engine, own, embedder.description)
    ingestor = make_ingestor(engine, info, embedder, own)
    raws = [RawDocument(tenant="demo", source=name, name=name, data=text.encode()) for name, text in CONTRACTS.items()]
    assert {outcome.state for outcome in ingestor.ingest(raws)} == {"ready"}
    ingestor.close()
    for index in (info.index, info.names.documents):
        engine.request("POST", f"/{index}/_refresh")
    yield SearchContext(engine, info, embedder, load_profile().checked_for(info), own, router=Router(()))
    uninstall(engine, info.names)


def frozen_from(result: AnswerResult, context: SearchContext) -> CaseFile:
    registry = Registry(context.engine, context.info, context.settings)
    made = freeze(
        result,
        tenant="demo",
        owner="dana",
        registry=registry,
        engine=context.engine,
        info=context.info,
        generation=generation_identity(result, app_version="0"),
        answered_at=AT,
    )
    return file(made)


@pytest.fixture
def counted(contracts: SearchContext) -> AnswerResult:
    request = SearchRequest(tenant="demo", query="כמה חוזים נחתמו ב-2023?", as_of=date(2024, 1, 1))
    result = answer(AnswerRequest(search=request), contracts, model=None)
    assert (result.method, len(result.citations), result.search.hits) == ("metadata", 2, ())
    return result


def test_passages_behind_an_answer_from_fields_are_frozen_and_found_again(
    contracts: SearchContext, counted: AnswerResult
) -> None:
    """The search ranked none of them: a row of the sheet must have them all the same."""
    known = frozen_from(counted, contracts)
    assert {one.rank for one in known.case.passages} == {None}
    assert known.rows
    assert {source.resolves for row in known.rows for source in row.sources} == {True}
    assert {source.rank for row in known.rows for source in row.sources} == {None}
    assert {"12.3.2023", "5.9.2023"} <= {
        word for row in known.rows for source in row.sources for word in (source.passage_text or "").split()
    }
    assert verify_pack(build_pack([known])).holds
    registry = Registry(contracts.engine, contracts.info, contracts.settings)
    run = replay(known, context=contracts, registry=registry, at=now())
    assert (run.comparable, run.changes) == (True, ())
    assert {one.how for one in run.refound} == {"locator"}
    assert all(row.same for row in run.rows)


def test_words_of_a_field_that_stand_in_no_passage_are_frozen_themselves(
    contracts: SearchContext, counted: AnswerResult
) -> None:
    cited = tuple(one.model_copy(update={"chunk_id": ""}) for one in counted.citations)
    known = frozen_from(counted.model_copy(update={"citations": cited}), contracts)
    (row, *_) = known.rows
    assert [source.resolves for source in row.sources] == [True, True]
    assert [source.passage_text for source in row.sources] == [one.quote for one in cited]
    assert all(one.before or one.after for one in known.case.passages)
    # Nothing is made up for words that do not stand there.
    moved = tuple(one.model_copy(update={"quote": "לא כתוב"}) for one in cited)
    known = frozen_from(counted.model_copy(update={"citations": moved}), contracts)
    assert known.case.passages == ()


def test_cases_are_listed_newest_first_a_page_at_a_time(store: EvidenceStore, request: pytest.FixtureRequest) -> None:
    name = request.node.name
    cases = [
        case(tenant="lists").model_copy(
            update={"query": f"{name} {number}", "answered_at": AT + timedelta(hours=number)}
        )
        for number in range(4)
    ]
    ids = [store.add_case(one) for one in cases]
    store.add_claims("lists", first_claims(cases[2], at=AT))
    found = list(store.files("lists"))
    assert [one.case.case_id for one in found] == ids[::-1]
    assert [len(one.sets) for one in found] == [0, 1, 0, 0]
    behind = store.files("lists", after=ids[2], wanted=lambda one: not one.query.endswith("0"))
    assert [one.case.case_id for one in behind] == [ids[1]]
    assert list(store.files("others")) == []
    with pytest.raises(NotFound):
        list(store.files("others", after=ids[2]))

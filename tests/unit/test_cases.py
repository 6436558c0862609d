"""The case sets: their rules, the loader's complaints, the judge."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from evaluation.cases import Case, CaseSet, Quote, Span, load_cases
from evaluation.cases_run import Verdict, figures, judged
from query.request import Filters, Hit, IndexIdentity, SearchResult
from search_config.errors import InvalidDataset
from search_config.records import Locator

FOLDER = Path(__file__).parents[2] / "examples"
MAX_BYTES = 1_000_000
# Words that ask, and no passage needs to hold.
ASKING = frozenset(
    re.findall(r"\S+", "מי מה מהו מהי כמה איזה באיזה אילו של שמו בו שלה עוד מספר the is what who of that name")
)


@pytest.fixture(scope="module")
def ours() -> CaseSet:
    return load_cases(FOLDER, max_file_bytes=MAX_BYTES)


def test_there_are_two_dozen_of_each_kind(ours: CaseSet) -> None:
    assert Counter(case.kind for case in ours.cases) == {
        "negation": 24,
        "identifiers": 24,
        "same-name": 24,
        "verbatim": 24,
    }
    assert len({case.query for case in ours.cases}) == len(ours.cases)


def test_only_verbatim_cases_ask_for_a_refusal(ours: CaseSet) -> None:
    assert {case.kind for case in ours.cases if case.refuse} == {"verbatim"}
    assert all(case.refuse for case in ours.cases if case.kind == "verbatim")


def test_right_and_tempting_words_stand_apart(ours: CaseSet) -> None:
    """In one paragraph they would say nothing of the order."""
    for case in ours.cases:
        wrong = ours.spans[case.wrong]
        for quote in case.right:
            right = ours.spans[quote]
            if right.document_id == wrong.document_id:
                first, second = sorted((right, wrong), key=lambda span: span.from_)
                assert "\n\n" in ours.dataset.canonical[right.document_id][first.to : second.from_], case.id


def test_the_words_of_a_verbatim_query_stand_in_the_tempting_paragraph(ours: CaseSet) -> None:
    for case in ours.cases:
        if case.kind != "verbatim":
            continue
        span = ours.spans[case.wrong]
        text = ours.dataset.canonical[span.document_id]
        start, end = text.rfind("\n\n", 0, span.from_), text.find("\n\n", span.to)
        paragraph = text[max(0, start) : end if end >= 0 else len(text)].casefold()
        words = [word for word in re.findall(r"[\w'\"-]+\w|\w", case.query.casefold()) if word not in ASKING]
        held = [word for word in words if word in paragraph]
        assert len(held) >= 0.7 * len(words), (case.id, sorted(set(words) - set(held)))


def test_an_identifier_of_a_query_stands_in_the_document_that_answers(ours: CaseSet) -> None:
    for case in ours.cases:
        if case.kind == "identifiers":
            (identifier,) = (word.rstrip("?") for word in case.query.split() if re.search(r"\d", word))
            assert identifier in ours.dataset.canonical[case.right[0].document_id], case.id


# --- the loader


def folder_of(tmp_path: Path, lines: Sequence[Any], documents: dict[str, str] | None = None) -> Path:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "a.txt").write_text("כותרת\n\nתשובה אחת ועוד תשובה שתיים.", encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "cases" / "documents").mkdir(parents=True)
    for name, text in (documents or {}).items():
        (tmp_path / "cases" / "documents" / name).write_text(text, encoding="utf-8")
    rows = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    (tmp_path / "cases" / "x.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def line(**changes: Any) -> dict[str, Any]:
    quote = {"document_id": "a.txt", "text": "תשובה אחת"}
    return {"id": "x-1", "kind": "negation", "query": "מה?", "right": [quote], "wrong": quote, **changes}


def test_documents_of_the_cases_are_added_to_the_folders_own(tmp_path: Path) -> None:
    wrong = {"document_id": "cases/b.txt", "text": "מילים"}
    loaded = load_cases(folder_of(tmp_path, [line(wrong=wrong)], {"b.txt": "עוד\n\nמילים"}), max_file_bytes=MAX_BYTES)
    assert [document.id for document in loaded.dataset.documents] == ["a.txt", "cases/b.txt"]
    span = loaded.spans[Quote(**wrong)]
    assert loaded.dataset.canonical["cases/b.txt"][span.from_ : span.to] == "מילים"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], ["no cases"]),
        (["{"], ["x.jsonl, line 1: no JSON"]),
        ([line(kind="riddle")], ["line 1: kind"]),
        ([line(extra=1)], ["line 1: extra"]),
        ([line(right=[])], ["either `right` quotes or `refuse: true`"]),
        ([line(refuse=True)], ["either `right` quotes or `refuse: true`"]),
        ([line(), line()], ["x-1 occurs twice"]),
        ([line(wrong={"document_id": "a.txt", "text": "תשובה"})], ["stands 2 times in a.txt"]),
        ([line(wrong={"document_id": "b.txt", "text": "תשובה"})], ["stands 0 times in b.txt"]),
        ([line(kind="riddle"), "{"], ["2 problem(s)", "line 1", "line 2"]),
    ],
)
def test_what_does_not_hold_is_told_by_line(tmp_path: Path, lines: list[Any], words: list[str]) -> None:
    with pytest.raises(InvalidDataset) as caught:
        load_cases(folder_of(tmp_path, lines), max_file_bytes=MAX_BYTES)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_the_hash_tells_other_cases_apart(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = load_cases(folder_of(tmp_path / "one", [line()]), max_file_bytes=MAX_BYTES)
    two = load_cases(folder_of(tmp_path / "two", [line(query="מתי?")]), max_file_bytes=MAX_BYTES)
    assert one.dataset.content_hash != two.dataset.content_hash


# --- the judge

RIGHT, WRONG = Quote(document_id="a", text="yes"), Quote(document_id="b", text="no")
SPANS = {RIGHT: Span("a", 10, 13), WRONG: Span("b", 0, 2)}
ANSWERED = Case(id="1", kind="negation", query="?", right=(RIGHT,), wrong=WRONG)
UNANSWERED = Case(id="2", kind="verbatim", query="?", refuse=True, wrong=WRONG)
HOLDS_RIGHT, HOLDS_WRONG, CUT = Span("a", 0, 20), Span("b", 0, 20), Span("a", 11, 20)


def answer(passages: Sequence[Span], *, refused: bool = False) -> SearchResult:
    hits = [
        Hit(
            rank=rank,
            document_id=span.document_id,
            version=1,
            content_hash="0" * 64,
            chunk_id=f"c{rank}",
            title="",
            section="",
            content="words",
            language="en",
            locator=Locator.model_validate({"from": span.from_, "to": span.to, "label": ""}),
        )
        for rank, span in enumerate(passages, start=1)
    ]
    return SearchResult(
        query="?",
        language="other",
        filters=Filters(date_from=date(2024, 1, 1)),
        refused=refused,
        profile="p/1",
        index=IndexIdentity(name="i", model="m", pipeline="p"),
        weights={"bm25": 1.0, "knn": 0.0},
        total=len(hits),
        took_ms={},
        hits=tuple(hits),
    )


@pytest.mark.parametrize(
    ("case", "passages", "refused", "refuses", "verdict", "ranks"),
    [
        (ANSWERED, [HOLDS_RIGHT, HOLDS_WRONG], False, True, "right", (1, 2)),
        (ANSWERED, [HOLDS_WRONG, HOLDS_RIGHT], False, True, "wrong", (2, 1)),
        (ANSWERED, [CUT], False, True, "wrong", (None, None)),
        (ANSWERED, [], False, True, "wrong", (None, None)),
        (ANSWERED, [HOLDS_RIGHT], True, True, "refused", (1, None)),
        (UNANSWERED, [HOLDS_WRONG], False, True, "wrong", (None, 1)),
        (UNANSWERED, [HOLDS_WRONG], True, True, "right", (None, 1)),
        (UNANSWERED, [HOLDS_WRONG], False, False, "not judged", (None, 1)),
    ],
)
def test_verdicts(
    case: Case,
    passages: list[Span],
    refused: bool,
    refuses: bool,
    verdict: Verdict,
    ranks: tuple[int | None, int | None],
) -> None:
    result = judged(case, answer(passages, refused=refused), passages, SPANS, refuses=refuses)
    assert result.verdict == verdict
    assert (result.rank, result.wrong_rank) == ranks


def test_a_passage_that_holds_both_is_right_and_says_so() -> None:
    spans = {RIGHT: Span("a", 10, 13), WRONG: Span("a", 15, 17)}
    passages = [HOLDS_RIGHT]
    result = judged(ANSWERED, answer(passages), passages, spans, refuses=False)
    assert (result.verdict, result.together) == ("right", True)
    row = figures([result])
    assert (row.tempted, row.together) == (0, 1)


def test_shares_count_what_was_judged() -> None:
    right = judged(ANSWERED, answer([HOLDS_RIGHT]), [HOLDS_RIGHT], SPANS, refuses=False)
    wrong = judged(ANSWERED, answer([HOLDS_WRONG]), [HOLDS_WRONG], SPANS, refuses=False)
    open_one = judged(UNANSWERED, answer([HOLDS_WRONG]), [HOLDS_WRONG], SPANS, refuses=False)
    row = figures([right, wrong, open_one])
    assert (row.cases, row.in_context, row.tempted) == (3, 1, 2)
    assert row.right is not None
    assert row.right.value == 0.5
    assert row.right.low < 0.5 < row.right.high
    assert figures([open_one]).right is None

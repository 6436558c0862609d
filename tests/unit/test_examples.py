"""The rules of the example corpus: sizes, needles, no generator, no shared stems."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from evaluation.dataset import Dataset, load_dataset
from ingest.extract.base import BlockKind, ExtractedDocument
from ingest.extract.registry import extract
from search_config.language import language_of

FOLDER = Path(__file__).parents[2] / "examples"
DOCUMENTS = FOLDER / "documents"
MAX_BYTES = 1_000_000
FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        """
    מה האם כמה של על את אם לא זה זו זאת יש אין איזה איזו אילו מי מתי איך כיצד היכן איפה כי גם רק או אל עם אז עד מן כל
    לי לה לו לנו שלי שלו אליי אותה אותו אותם הוא היא הם הן אני אנחנו בה בו בלי כך במה אינו אינה לפני אחרי בין בלבד תוך
    בתוך שלא the a an of to in is are how what who when which for do does it be on by at
    """,
    )
)
PREFIXES = "משהוכלב"
SUFFIXES = ("ותיהם", "ותיה", "ותיו", "יהם", "ינו", "יו", "יה", "ות", "ים", "נו", "הם", "ת", "ה", "י", "ו")


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(FOLDER, max_file_bytes=MAX_BYTES)


@pytest.fixture(scope="module")
def documents() -> dict[str, ExtractedDocument]:
    return {
        path.relative_to(DOCUMENTS).as_posix(): extract(path.read_bytes(), name=path.name, max_bytes=MAX_BYTES)
        for path in sorted(DOCUMENTS.rglob("*"))
        if path.is_file()
    }


def paragraphs(document: ExtractedDocument) -> list[str]:
    return [
        document.text[block.locator.from_ : block.locator.to]
        for block in document.blocks
        if block.kind is BlockKind.PARAGRAPH
    ]


def test_the_corpus_is_large_and_varied_enough(documents: dict[str, ExtractedDocument], dataset: Dataset) -> None:
    sections = {(name, block.section) for name, document in documents.items() for block in document.blocks}
    assert len(documents) >= 16
    assert sum(len(document.text) for document in documents.values()) >= 120_000
    assert len(sections) >= 100
    english = [name for name, document in documents.items() if language_of(document.text) == "en"]
    assert len(english) == 2
    kinds = Counter(question.kind for question in dataset.questions)
    assert kinds["english"] >= 60
    assert kinds["aspects"] >= 15
    unanswerable = [question for question in dataset.questions if question.out_of_domain]
    assert len(unanswerable) >= 30
    assert sum(bool(question.near) for question in unanswerable) >= 21
    main = Counter(question.phrasing for question in dataset.questions if question.kind == "main")
    assert all(main[phrasing] >= 40 for phrasing in ("close", "paraphrase", "ticket"))


def test_a_needle_stands_once_in_the_corpus_and_in_no_title(
    documents: dict[str, ExtractedDocument], dataset: Dataset
) -> None:
    for question in dataset.questions:
        for name, needle in question.needle_places():
            found = {other: document.text.count(needle.text) for other, document in documents.items()}
            assert {other: count for other, count in found.items() if count} == {name: 1}, (question.id, needle.text)
    headings = [document.title for document in documents.values()] + [
        part for document in documents.values() for block in document.blocks for part in block.section
    ]
    for question in dataset.questions:
        for _, needle in question.needle_places():
            assert not any(needle.text in heading for heading in headings), (question.id, needle.text)


def test_no_two_paragraphs_share_half_of_their_five_grams_unless_listed(
    documents: dict[str, ExtractedDocument],
) -> None:
    listed = {
        frozenset((pair[side]["document"], _squeezed(pair[side]["starts"])) for side in "ab")
        for pair in json.loads((FOLDER / "versions.json").read_text(encoding="utf-8"))
    }
    rows = [
        (name, paragraph, _grams(paragraph))
        for name, document in documents.items()
        for paragraph in paragraphs(document)
    ]
    for (name_a, a, grams_a), (name_b, b, grams_b) in combinations([row for row in rows if row[2]], 2):
        if len(grams_a & grams_b) >= min(len(grams_a), len(grams_b)) / 2:
            known = any(
                {name for name, _ in pair} <= {name_a, name_b}
                and all(
                    any(name == n and _squeezed(text).startswith(start[:30]) for n, text in ((name_a, a), (name_b, b)))
                    for name, start in pair
                )
                for pair in listed
            )
            assert known, (name_a, a[:60], name_b, b[:60])


def test_twelve_paraphrases_share_no_content_stem_with_their_passage(
    documents: dict[str, ExtractedDocument],
) -> None:
    lines = (FOLDER / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    marked = [question for question in map(json.loads, lines) if question.get("no_shared_stem")]
    assert len(marked) >= 12
    for question in marked:
        document = documents[question["document_id"]]
        at = question["needles"][0]["from"]
        block = next(block for block in document.blocks if block.locator.from_ <= at < block.locator.to)
        passage = " ".join((document.title, *block.section, document.text[block.locator.from_ : block.locator.to]))
        theirs = {stem for word in _content_words(passage) for stem in _stems(word)}
        for word in _content_words(question["query"]):
            assert not _stems(word) & theirs, (question["id"], word)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _grams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[\w\"״׳'%/-]*\w", text)
    return {tuple(words[i : i + 5]) for i in range(len(words) - 4)}


def _content_words(text: str) -> set[str]:
    words = {word.strip("\"'״׳").lower() for word in re.findall(r"[א-תa-zA-Z\"'״׳]+", text)}
    return {word for word in words if len(word) > 1 and word not in FUNCTION_WORDS}


def _stems(word: str) -> set[str]:
    """The word without each run of prefix letters, each with and without a suffix; three letters at least."""
    finals = str.maketrans("ךםןףץ", "כמנפצ")
    bare = [word]
    while len(bare[-1]) > 3 and bare[-1][0] in PREFIXES and len(bare) <= 3:
        bare.append(bare[-1][1:])
    cut = [form[: -len(suffix)] for form in bare for suffix in SUFFIXES if form.endswith(suffix)]
    return {form.translate(finals) for form in (*bare, *cut) if len(form) >= 3}

"""What a model writes becomes sentences with marks that hold, quotes to the letter, and problems that are named."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.citations import Verified, draft_sentences, support, verified
from query.claims import quotes
from query.marks import without_marks
from tests.unit.hits import hit

FEES = hit(
    'אגרת חניה היא 120 ש"ח לשנה. תושב רשאי לקבל אישור אחד, לפי טופס 2044317. פרטים: https://city.example/parking.',
    rank=1,
    title="נוהל אישורי חניה",
)
HOURS = hit(
    "המוקד פתוח בימים א׳ עד ה׳.\nבתקלה E-4031 יש לפנות למוקד העירוני. [2] הערת שוליים.", rank=2, page=7, label="עמוד 7"
)
SOURCES = (FEES, HOURS)
QUESTION = "כמה עולה חניה?"
# Everything that marks, quotes, links and sentences are made of, in any order.
DRAFTS = st.lists(
    st.sampled_from(
        ["[1]", "[2]", "[9]", "[0]", "[1, 2]", "[1-9]", "[[", "]]", "[", "]", "【1】", "(", ")", "1", "9", " ", "\n",
         ".", "אגרה", '"', "״", "'", "https://a.example/x", "[קישור](http://b.example)", "[1](http://b.example)",
         "א", "- ", "# ", "E-4031", "report.pdf", "...", "ש\"ח", "ח.פ.", "[מקור 2]", "[source 3]", "]1[", "***", "[１]"]
    ),
    max_size=40,
).map("".join) | st.text(max_size=60)  # fmt: skip
ANY_MARK = re.compile(r"[\[【]\s*(?:מקורות|מקור|sources?|#)?\s*(\d+(?:\s*[,;–-]\s*\d+)*)\s*[\]】]", re.IGNORECASE)


def checked(draft: str, *, language: str = "he") -> Verified:
    drafted = draft_sentences(draft, len(SOURCES))
    return verified(drafted, SOURCES, question=QUESTION, language=language)


@given(DRAFTS)
def test_whatever_a_model_writes_every_mark_has_a_citation_and_every_quote_is_verbatim(draft: str) -> None:
    result = checked(draft)
    numbers = {citation.index for citation in result.citations}
    assert {int(number) for number in ANY_MARK.findall(result.answer)} == numbers
    for citation in result.citations:
        source = SOURCES[citation.index - 1]
        start = citation.locator.from_ - source.locator.from_
        assert source.content[start : start + len(citation.quote)] == citation.quote != ""
        assert citation.locator.to - citation.locator.from_ == len(citation.quote)
    for sentence in result.sentences:
        assert result.answer[sentence.from_ : sentence.to] == sentence.text
        assert set(sentence.citations) <= numbers
        assert sentence.citations or sentence.problems
    assert result.grounded <= (bool(result.sentences) and all(one.citations for one in result.sentences))
    assert "example" not in re.sub(r"https://city\.example/parking", "", result.answer)


@pytest.mark.parametrize(
    ("draft", "cited"),
    [
        ("האגרה היא 120 ש\"ח. [1] המוקד פתוח. [2]", [(1,), (2,)]),
        ("האגרה היא 120 ש\"ח [1]. המוקד פתוח [2].", [(1,), (2,)]),
        ("האגרה היא 120 ש\"ח.[1] המוקד פתוח.[2]", [(1,), (2,)]),
        ("האגרה [1] היא 120 ש\"ח, והמוקד [2] פתוח.", [(1, 2)]),
        ("- האגרה [1]\n- המוקד [2]\n", [(1,), (2,)]),
        ("[1] האגרה\n[2] המוקד", [(1,), (2,)]),
        ("1. האגרה [1]\n2. המוקד [1][2]", [(1,), (1, 2)]),
        ("האגרה נקבעה בתשפ\"ד. [1]\n[2]", [(1, 2)]),
        ("האגרה [מקור 1], המוקד [Sources 1-2].", [(1, 2)]),
        ("The fee. [1]\nThe desk【2】.", [(1,), (2,)]),
    ],
)  # fmt: skip
def test_a_mark_belongs_to_its_sentence(draft: str, cited: list[tuple[int, ...]]) -> None:
    assert [one.numbers for one in draft_sentences(draft, 2)] == cited


def test_the_answer_is_written_anew() -> None:
    result = checked('האגרה היא 120 ש"ח [1] .\nהמוקד פתוח בימים א׳ עד ה׳ [2,2].')
    assert result.answer == 'האגרה היא 120 ש"ח. [1]\nהמוקד פתוח בימים א׳ עד ה׳. [2]'
    assert result.grounded
    assert [citation.quote for citation in result.citations] == [
        'אגרת חניה היא 120 ש"ח לשנה.',
        "המוקד פתוח בימים א׳ עד ה׳.",
    ]


def test_a_quote_of_two_sentences_is_one_sentence_of_the_answer() -> None:
    result = checked('נכתב "אגרת חניה היא 120 ש״ח לשנה. תושב רשאי לקבל אישור אחד" [1]. סוף [2].')
    assert [one.citations for one in result.sentences] == [(1,), (2,)]
    assert result.grounded


def test_marks_of_no_source_are_taken_out_and_named() -> None:
    result = checked("האגרה היא 120 [1] [7]. המוקד פתוח [9].")
    assert result.answer == "האגרה היא 120. [1] המוקד פתוח."
    assert [one.problems for one in result.sentences] == [
        ("הסימון [7] אינו של מקור",),
        ("הסימון [9] אינו של מקור", "למשפט אין מקור"),
    ]
    assert not result.grounded
    assert checked("האגרה היא 120 [1] [7].").grounded


@pytest.mark.parametrize(
    ("sentence", "false"),
    [
        ('לפי הנוהל "אגרת חניה היא 120 ש״ח" [1].', ""),
        ('לפי הנוהל, "תושב רשאי לקבל ... לפי טופס 2044317" [1].', ""),
        ('לפי ה"נוהל אישורי חניה" [1].', ""),
        ('לפי הנוהל "אגרת חניה היא 150 שקל" [1].', "אגרת חניה היא 150 שקל"),
        ('לפי הנוהל "המוקד פתוח בימים א׳ עד ה׳" [1].', "המוקד פתוח בימים א׳ עד ה׳"),
        ('לפי הנוהל “אישור אחד, תושב רשאי” [1].', "אישור אחד, תושב רשאי"),
        ("לפי הנוהל צה\"ל, ארה״ב, בע\"מ ומנכ\"לית, 5\" ו-7\" [1].", ""),
    ],
)  # fmt: skip
def test_quotes_are_verbatim_in_the_cited_source(sentence: str, false: str) -> None:
    (one,) = checked(sentence).sentences
    found = [problem for problem in one.problems if "מילה במילה" in problem]
    assert [problem.rpartition(": ")[2] for problem in found] == ([false] if false else [])


def test_gershayim_are_no_quotes() -> None:
    assert list(quotes('ד"ר כהן, יו"ר "אלון בע"מ", אמר: ״שלום לכם״ וב"הארץ" נכתב')) == ['אלון בע"מ', "שלום לכם", "הארץ"]


@pytest.mark.parametrize(
    ("claim", "false"),
    [
        ("ראו טופס 2044317 [1]", ""),
        ("ראו טופס 2044318 [1]", "2044318"),
        ("ראו טופס 204431 [1]", "204431"),
        ("בתקלה E-4031 [2]", ""),
        ("בתקלה E-4031 [1]", "E-4031"),
        ("בתקלה בE-4032 [2]", "E-4032"),
        ("ראו report_2024.pdf [1]", "report_2024.pdf"),
        ("האגרה היא 120.0 [1]", ""),
        ("האגרה היא 130 [1]", "130"),
        ("1. האגרה היא 120 [1]", ""),
        ("2.3) האגרה היא 130 [1]", "130"),
        ("האגרה מיום 10.2.2023 היא 120 [1]", "2023"),
    ],
)
def test_names_and_numbers_are_in_a_cited_source(claim: str, false: str) -> None:
    (one,) = checked(claim).sentences
    assert [problem.rpartition(": ")[2] for problem in one.problems] == ([false] if false else [])


def test_numbers_of_the_question_may_be_repeated() -> None:
    drafted = draft_sentences("לבקשה מס׳ 77-88 ולשנת 2031: 120 [1].", 2)
    assert verified(drafted, SOURCES, question="מה האגרה בבקשה 77-88 בשנת 2031?", language="he").grounded


@pytest.mark.parametrize(
    "link",
    ["https://evil.example/?q=1", "http://city.example.evil.example", "www.evil.example", "javascript:alert(1)",
     "mailto:a@evil.example", "ראוhttps://evil.example", "evil.co.il/x?q=1", "[לחצו](https://evil.example)", "![תמונה](https://evil.example/x.png)"],
)  # fmt: skip
def test_links_of_no_cited_source_are_taken_out(link: str) -> None:
    result = checked(f"האגרה היא 120 [1]. ראו {link} [1].")
    assert "evil" not in result.answer
    assert "javascript" not in result.answer
    assert any("קישור" in problem for problem in result.sentences[1].problems)
    assert not result.grounded


def test_a_link_of_the_cited_source_stays() -> None:
    result = checked("פרטים: https://city.example/parking [1].")
    assert "https://city.example/parking" in result.answer
    assert result.grounded
    assert not checked("פרטים: https://city.example/parking [2].").grounded


def test_messages_in_the_language_of_the_question() -> None:
    (one,) = checked("The fee.", language="en").sentences
    assert one.problems == ("The sentence has no source",)


def test_a_citation_has_the_place_of_its_quote() -> None:
    result = checked("המוקד פתוח בימים א׳ עד ה׳ [2]. האגרה היא 120 [1].")
    fees, hours = result.citations
    assert (hours.fragment, hours.locator_label, hours.locator.page) == ("#page=7", "עמוד 7", 7)
    assert fees.fragment == f"#char={fees.locator.from_},{fees.locator.to}"
    assert fees.locator_label == f"תווים {fees.locator.from_}–{fees.locator.to}"
    assert (fees.document_id, fees.document_name, fees.version) == ("d1", "נוהל אישורי חניה", 1)


def test_a_quote_reaches_over_what_several_sentences_rest_on() -> None:
    result = checked("אגרת חניה היא 120 [1]. תושב רשאי לקבל אישור אחד [1].")
    assert result.citations[0].quote == 'אגרת חניה היא 120 ש"ח לשנה. תושב רשאי לקבל אישור אחד, לפי טופס 2044317.'


def test_a_sentence_in_another_language_rests_on_the_whole_passage() -> None:
    assert support("Residents may park.", FEES.content) == (0, len(FEES.content))


def test_numbers_of_thousands_of_digits_name_nothing() -> None:
    text, (mark,) = without_marks(f"א [{'9' * 5000}]", 3)
    assert (text, mark.numbers, len(mark.invalid)) == ("א", (), 1)

"""Claims: verbatim, cut inside sentences, nothing lost, ids that stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.evidence.claim_sets import (
    check_claims,
    first_claims,
    mark_claim,
    merge_claims,
    proposed_by_model,
    split_claim,
)
from evaluation.evidence.claims import separators_only, split_answer
from evaluation.evidence.sources import marks_of
from search_config.errors import InvalidRequest, NotFound
from tests.unit.evidence.cases import AT, case, file


def texts(answer: str) -> list[str]:
    return [answer[span.start : span.end] for span in split_answer(answer)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # quantity
        ('תו ראשון עולה 46 ש"ח ותו שני עולה 118 ש"ח.', ['תו ראשון עולה 46 ש"ח', 'ותו שני עולה 118 ש"ח.']),
        ("It costs 46 NIS here and the other costs 118 NIS.", ["It costs 46 NIS here", "and the other costs 118 NIS."]),
        # exception
        ("החניה חינם לתושבים, למעט ביום שישי בבוקר.", ["החניה חינם לתושבים,", "למעט ביום שישי בבוקר."]),
        ("Parking is free unless an event takes place.", ["Parking is free", "unless an event takes place."]),
        # date
        ("המדור ישיב בתוך שבעה ימי עבודה.", ["המדור ישיב", "בתוך שבעה ימי עבודה."]),
        ("The rule applies from 1 March 2024 to residents.", ["The rule applies", "from 1 March 2024 to residents."]),
        # cause
        ("הבקשה נדחתה משום שהמסמכים חסרים.", ["הבקשה נדחתה", "משום שהמסמכים חסרים."]),
        ("It was refused there because papers were missing.", ["It was refused there", "because papers were missing."]),
        # step
        ("יש להגיש בקשה ולאחר מכן לשלם אגרה.", ["יש להגיש בקשה", "ולאחר מכן לשלם אגרה."]),
        ("File a request and then pay the fee.", ["File a request", "and then pay the fee."]),
        # conjunction
        ("הקבלן אחראי לנזק, ואילו העירייה פטורה ממנו.", ["הקבלן אחראי לנזק,", "ואילו העירייה פטורה ממנו."]),
        ("The supplier hosts it but the customer pays.", ["The supplier hosts it", "but the customer pays."]),
        # behind a mark
        (
            "It covers hosting here [1], daily backups [2] and training days [2].",
            ["It covers hosting here [1],", "daily backups [2]", "and training days [2]."],
        ),
    ],
)  # fmt: skip
def test_sentences_are_cut_inside(answer: str, expected: list[str]) -> None:
    assert texts(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "הדלפק פתוח בין 8:30 ל-13:00 בימי ראשון.",
        "It was signed on March 4, 2024.",
        "The supplier tells residents, the press or the regulator.",
        "כרטיסים שלא נוצלו עד 31 בדצמבר מתבטלים.",
        'The rule ("free, unless sold and moved") stands.',
    ],
)
def test_one_statement_stays_one_claim(answer: str) -> None:
    assert len([text for text in texts(answer) if "signed" not in text]) <= 1


def test_lists_and_tables_are_cut_by_item_and_row() -> None:
    table = "| סוג | אגרה |\n|---|---|\n| ראשון | 46 |\n| שני | 118 |"
    answer = f"## אגרות\nיש לצרף:\n- רישיון רכב [1]\n2. ספח תעודה [1]\n\n{table}"
    spans = split_answer(answer)
    assert [answer[span.start : span.end] for span in spans if span.material] == [
        "רישיון רכב [1]", "ספח תעודה [1]", "ראשון | 46", "שני | 118",
    ]  # fmt: skip
    assert [span.why_immaterial for span in spans if not span.material] == [
        "a heading", "a lead-in to what follows", "a table's header",
    ]  # fmt: skip


@given(
    st.lists(
        st.sampled_from(["תו", "and", " ", ", ", "ו", "46", "[1]", ".", "\n", "- ", "| ", "unless", "אלא אם", "ab"]),
        max_size=40,
    )
)
def test_every_word_belongs_to_exactly_one_claim(parts: list[str]) -> None:
    answer = " ".join(parts)
    reached = 0
    for span in split_answer(answer):
        assert reached <= span.start < span.end <= len(answer)
        assert separators_only(answer[reached : span.start]), answer[reached : span.start]
        reached = span.end
    assert separators_only(answer[reached:])


def test_a_claim_without_a_mark_takes_the_next_one_of_its_sentence_and_no_other() -> None:
    frozen = case('המדור ישיב לבקשה בתוך שבעה ימי עבודה [2]. תו עולה 46 ש"ח. אין הנחה לאיש. [1]')
    claims = first_claims(frozen, at=AT).claims
    assert [marks_of(frozen.answer, claim) for claim in claims] == [(2,), (2,), (), (1,)]


def test_editing_keeps_other_ids_and_names_what_it_touched() -> None:
    frozen = case("The fee is NIS 950 an hour. Access lapses after 180 days and stays closed.")
    first = first_claims(frozen, at=AT)
    second = split_claim(frozen, first, first.claims[1].claim_id, "and stays", author="dana", at=AT)
    check_claims(frozen, second)
    assert second.claims[0] == first.claims[0]
    assert second.touched == (first.claims[1].claim_id,)
    assert second.supersedes == first.revision_hash
    back = merge_claims(frozen, second, second.claims[1].claim_id, second.claims[2].claim_id, author="dana", at=AT)
    # The same characters, the same id, the same hash of the claims.
    assert [one.claim_id for one in back.claims] == [one.claim_id for one in first.claims]
    assert back.claim_set_hash == first.claim_set_hash
    assert back.revision_hash != first.revision_hash


def test_marking_needs_a_reason_and_takes_the_claim_out_of_the_rows() -> None:
    known = file()
    claim = known.claims.claims[0].claim_id
    with pytest.raises(InvalidRequest):
        mark_claim(known.claims, claim, material=False, reason="  ", author="dana", at=AT)
    marked = mark_claim(known.claims, claim, material=False, reason="ברכה", author="dana", at=AT)
    assert len(marked.material) == len(known.claims.material) - 1
    assert len(marked.claims) == len(known.claims.claims)


def test_edits_that_do_not_fit_are_refused() -> None:
    known = file()
    first, *_, last = known.claims.claims
    with pytest.raises(NotFound):
        split_claim(known.case, known.claims, "no-such-claim", "x", author="dana", at=AT)
    with pytest.raises(InvalidRequest):
        split_claim(known.case, known.claims, first.claim_id, "לא כאן", author="dana", at=AT)
    with pytest.raises(InvalidRequest):
        merge_claims(known.case, known.claims, first.claim_id, last.claim_id, author="dana", at=AT)


def test_a_models_claims_are_verbatim_and_leave_nothing_out() -> None:
    frozen = case("Parking is free. Entry costs 5 NIS.")
    made = proposed_by_model(frozen, ["Parking is free.", "Entry costs 5 NIS."], model="m", at=AT)
    assert [claim.text for claim in made.claims] == ["Parking is free.", "Entry costs 5 NIS."]
    for wrong in (["Parking is free."], ["Parking is cheap.", "Entry costs 5 NIS."]):
        with pytest.raises(InvalidRequest):
            proposed_by_model(frozen, wrong, model="m", at=AT)


def test_a_refusal_has_no_claims() -> None:
    assert first_claims(case(refused=True), at=AT).claims == ()

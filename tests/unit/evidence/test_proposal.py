"""What rules propose: never *supported* where a number, unit, negation, condition or scope differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.evidence.agreement import ProposalAgreement, proposal_agreement
from evaluation.evidence.folder import case_folders, load_case
from evaluation.evidence.labels import Label, Trap, load_labels, trapped
from evaluation.evidence.numbers import dates, quantities, same_date
from evaluation.evidence.proposal import propose
from evaluation.evidence.replay_suite import LEAST_RECALL
from evaluation.evidence.rows import Row

EXAMPLES = Path(__file__).parents[3] / "examples" / "evidence"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("תוך 25 דקות", ["25 minute"]),
        ("שבעה ימי עבודה", ["7 workday"]),
        ("עשרים ואחד ימים", ["21 day"]),
        ("ארבעה-עשר ימים", ["14 day"]),
        ("התו תקף שנתיים", ["2 year"]),
        ("תקף לשנה", ["1 year"]),
        ("NIS 38,400 plus VAT", ["38400 ILS"]),
        ("two hundred and twenty per cent of the fees", ["220 %"]),
        ("thirty-one days", ["31 day"]),
        ("5% מערך", ["5 %"]),
        ("קוד SKU-77/4, בשעה 8:30, חוזה 2022/318, סימון [3]", []),
        ("ביום 14.5.2023", []),
    ],
)
def test_quantities_have_one_form(text: str, expected: list[str]) -> None:
    assert [str(one) for one in quantities(text)] == expected


@pytest.mark.parametrize(
    "text",
    ["1 במרס 2024", "2024-03-01", "1.3.2024", "1/3/24", "1 March 2024", "March 1, 2024", "the 1st of March 2024"],
)
def test_dates_have_one_form(text: str) -> None:
    assert dates(text) == ("2024-03-01",)


def test_a_date_without_a_year_agrees_with_its_day() -> None:
    assert same_date(dates("ב-1 במרס")[0], "2024-03-01")
    assert not same_date(dates("ב-2 במרס")[0], "2024-03-01")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The supplier reports within six days.", "The supplier reports within six hours."),
        ("The supplier reports within eight hours.", "The supplier reports within six hours."),
        ("The work is charged at NIS 310 a day.", "The work is charged at NIS 310 an hour."),
        ("The fee is NIS 100 including VAT.", "The fee is NIS 100 plus VAT."),
        ("Data may leave the country.", "Data shall not leave the country."),
        ("The contractor must file a plan.", "The contractor may file a plan."),
        ("Dogs are permitted in the park.", "Dogs are forbidden in the park."),
        ("Access lapses after 180 days.", "Access lapses after 180 days, unless it is renewed."),
        ("Employees receive it on request.", "Employees at grade 9 and above receive it on request."),
        ("The tax rose because of inflation.", "The tax rose in the spring."),
        ("All visitors pay the fee.", "Visitors pay the fee."),
        ("Exceptions are signed by the owner.", "The owner is Olga, and exceptions are signed by the officer."),
        ("The contract was signed on 3 May 2023.", "The contract was signed on 4 May 2023."),
        ("The contract was signed by Dana Levi.", "The contract was signed by Noa Levi."),
        ("הכרטיסים נצברים לשנה הבאה.", "הכרטיסים אינם נצברים לשנה הבאה."),
        ("ההחלטה תינתן בתוך 45 ימי עבודה.", "ההחלטה תינתן בתוך 45 ימים."),
        ("האגרה היא 118 דולר.", 'האגרה היא 118 ש"ח.'),
        ("המועצה רשאית לאשר הנחה.", "המועצה רשאית לאשר הנחה, ובלבד שהגזבר הסכים."),
        ("ועדת הרכש מאשרת כל רכישה.", "ועדת הרכש מאשרת רכישה."),
        ("הריסוס מותר בגן.", "הריסוס אסור בגן."),
        ("האגרה עלתה בשל המדד.", "האגרה עלתה."),
        ("הפיצוי הוא 900 ש\"ח.", "הפיצוי הוא 900 ש\"ח לכל שעה."),
        ("התו ניתן לתושבים.", "התו ניתן לתושבים בלבד."),
        ("Staff may park in lot A on weekends.", "Staff may park in lot A on weekdays."),
        ("The tenant pays the landlord.", "The landlord pays the tenant."),
        ("Payment is due within 30 days.", "Payment is due within 30 days of receipt, or 15 days for small firms."),
        ("The system stores data in Israel.", "The system should store data in Israel where possible."),
        ("הספרייה פתוחה בימי שישי.", "הספרייה פתוחה בימי חמישי."),
        ("הספרייה פתוחה בימי שישי.", "הספרייה סגורה בימי שישי."),
        ("ההנחה ניתנת לתושבים.", "ההנחה ניתנת לתושבים שמלאו להם 70."),
        ("התוכנית אושרה.", "התוכנית טרם אושרה."),
    ],
)  # fmt: skip
def test_a_difference_is_never_proposed_as_supported(claim: str, passage: str) -> None:
    assert propose(claim, [passage]).support != "supported"
    # The passage itself is carried by itself.
    assert propose(passage, [passage]).support == "supported"


def test_without_an_attached_passage_it_says_what_is_missing() -> None:
    proposal = propose("A claim.", [], attachment="missing")
    assert (proposal.support, proposal.missing) == ("cannot_be_evaluated", "an attached passage")
    assert proposal.standing == "a proposal, not a verdict"


def test_an_exception_that_the_answer_tells_elsewhere_is_not_omitted() -> None:
    passage = "Access lapses after 180 days, unless the head renews it."
    claim = "Access lapses after 180 days,"
    assert propose(claim, [passage]).support == "partially_supported"
    assert propose(claim, [passage], answer=f"{claim} unless the head renews it.").support == "supported"


@pytest.fixture(scope="module")
def labelled() -> list[tuple[Row, Label]]:
    return [pair for folder in case_folders(EXAMPLES) for pair in load_labels(folder, load_case(folder))]


@pytest.fixture(scope="module")
def agreement(labelled: list[tuple[Row, Label]]) -> ProposalAgreement:
    return proposal_agreement([(row.claim_text, label.support, row.proposal.support) for row, label in labelled])


def test_no_trap_of_the_examples_is_proposed_as_supported(labelled: list[tuple[Row, Label]]) -> None:
    assert sum(label.trap is not None for _, label in labelled) >= 20
    assert trapped(labelled) == ()


def test_plainly_supported_rows_are_mostly_proposed_so(agreement: ProposalAgreement) -> None:
    (supported,) = (one for one in agreement.by_label if one.label == "supported")
    assert supported.rows >= 40
    assert supported.recall.value >= LEAST_RECALL
    assert agreement.wrongly_supported == ()


def test_the_examples_are_what_they_promise(labelled: list[tuple[Row, Label]]) -> None:
    files = [load_case(folder) for folder in case_folders(EXAMPLES)]
    assert len(files) == 10
    assert len(labelled) >= 60
    for file in files:
        file.check()
    assert sum(file.case.honest_miss for file in files) == 1
    wanted: set[Trap] = {
        "attached_not_supporting", "retrieved_not_cited", "qualification_omitted", "versions_disagree", "wrong_unit",
        "negation_lost", "not_evaluable", "points_nowhere",
    }  # fmt: skip
    assert wanted <= {label.trap for _, label in labelled}
    assert {label.support for _, label in labelled} == {
        "supported", "partially_supported", "not_supported", "cannot_be_evaluated",
    }  # fmt: skip


def test_diagnoses_are_made_from_what_is_visible(labelled: list[tuple[Row, Label]]) -> None:
    causes = {label.trap: {one.cause for one in row.diagnoses} for row, label in labelled if label.trap}
    assert "retrieved_not_cited" in causes["retrieved_not_cited"]
    assert "cited_contradicts" in causes["wrong_unit"]
    assert "qualification_omitted" in causes["qualification_omitted"]
    assert "locator_elsewhere" in causes["points_nowhere"]

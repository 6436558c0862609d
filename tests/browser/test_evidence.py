"""The evidence sheet in a browser: a whole case by keyboard alone, and what must never happen on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from api.caller import Permission
from evaluation.evidence.cases import Case
from evaluation.evidence.claim_sets import first_claims
from evaluation.evidence.file import CaseFile
from evaluation.evidence.model_proposal import TEMPERATURE, ClaimProposal, ModelProposal
from evaluation.evidence.store import EvidenceStore
from evaluation.evidence.verify import verify_file
from tests.browser import files
from tests.browser.conftest import DESK, PHONE, TENANT, OpenPage, Site
from tests.browser.test_paths import tab_to
from tests.browser.test_safety import AXE, GRAVE
from tests.unit.evidence.cases import AT, case, verdict

pytestmark = pytest.mark.extra("chromium")

QUESTION: Final = "כמה אישורי חניה מגיעים לתושב?"
ALL: Final = (Permission.READ, Permission.WRITE, Permission.REVIEW)
# One number stands in the passage, one does not; what is quoted stands there too.
ANSWER: Final = 'תו תושב ראשון עולה 46 ש"ח [1], והתו תקף 3 שנים [1]. המדור ישיב לפונים.'


@pytest.fixture(scope="module")
def reviewer(site: Site) -> str:
    return site.services.keys.create(TENANT, permissions=ALL).key


@pytest.fixture(scope="module")
def store(site: Site) -> EvidenceStore:
    return EvidenceStore(site.services.engine, site.services.info.names)


def stored(store: EvidenceStore, query: str, answer: str = ANSWER, *, tenant: str = TENANT, **others: Any) -> CaseFile:
    """A case with its claims, of a test's own question."""
    one: Case = case(answer, tenant=tenant, **others).model_copy(update={"query": query})
    case_id = store.add_case(one)
    store.add_claims(tenant, first_claims(one, at=AT))
    return store.read(tenant, case_id)


def decided(store: EvidenceStore, known: CaseFile, row: int, support: Any, who: str, **others: Any) -> None:
    """A decision of someone else."""
    claim = known.claims.material[row].claim_id
    made = known.next_decision(claim, verdict(support, **others), reviewer=who, at=AT, supersedes=None)
    store.add_decision(known.case.tenant, made)


def claims(page: Page) -> Any:
    return page.locator("[data-claim]")


def test_a_whole_case_by_keyboard_alone(
    site: Site, store: EvidenceStore, reviewer: str, open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page(f"#/search?q={QUESTION}", key=reviewer)
    expect(page.locator("[data-part=answer]")).to_have_attribute("data-state", "done")
    shown = page.locator("[data-part=answer] .answer-text").inner_text()
    tab_to(page, page.locator("[data-part=answer] [data-do=freeze]"))
    page.keyboard.press("Enter")
    expect(page.locator("[data-do=case]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(QUESTION)
    limits = page.locator("[data-part=limits]")
    expect(limits.locator("[lang=he] h2")).to_have_text("מה הגיליון הזה אינו מוכיח")
    expect(limits.locator("[lang=en] h2")).to_have_text("What this sheet does not prove")
    tab_to(page, page.locator("[data-do=rules]"))
    page.keyboard.press("Enter")
    first = claims(page).first
    expect(first).to_be_focused()
    number = claims(page).count()
    assert number >= 2
    case_id = re.search(r"case=([0-9a-f]{64})", page.url)[1]  # type: ignore[index]
    # The very answer that was shown is the one that was frozen, marks and all.
    assert re.sub(r"\W", "", store.read(TENANT, case_id).case.answer) == re.sub(r"\W", "", shown)

    page.keyboard.press("KeyH")
    expect(page.locator("[data-part=help] kbd").first).to_be_visible()
    page.keyboard.press("KeyO")
    expect(page.locator("dialog [data-part=quote]")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("KeyJ")
    expect(claims(page).nth(1)).to_be_focused()
    page.keyboard.press("KeyK")
    expect(first).to_be_focused()
    for place in range(number):
        expect(claims(page).nth(place)).to_be_focused()
        page.keyboard.press("Digit1")
        page.keyboard.press("Digit7" if place == 0 else "Digit4")
        page.keyboard.press("Control+Enter")
        # Without a reason nothing is saved, and the place of it has the focus.
        expect(page.locator("[data-part=lacking]")).to_be_visible()
        expect(page.locator("[name=attachment_reason]")).to_be_focused()
        page.keyboard.type("הסימון נפתח בקטע 4")
        tab_to(page, page.locator("[name=support_reason]"))
        page.keyboard.type("כך כתוב, 1 ו-7")
        if place == 0:
            page.keyboard.press("Control+Enter")
            expect(page.locator("[name=missing]")).to_be_focused()
            page.keyboard.type("הנספח")
            page.keyboard.press("Escape")
            page.keyboard.press("KeyD")
            expect(page.locator("[name=cause]")).to_be_focused()
            page.keyboard.press("ArrowDown")
            for part in ("observation", "hypothesis", "next_check"):
                page.keyboard.press("Tab")
                page.keyboard.type(part)
        with page.expect_response(lambda answer: answer.url.endswith("/decisions")) as sent:
            page.keyboard.press("Control+Enter")
        assert sent.value.status == 201, sent.value.text()
    expect(page.locator("[data-claim][data-state=done]")).to_have_count(number)
    expect(page.locator("[data-part=counts] progress")).to_have_attribute("value", str(number))

    tab_to(page, page.locator("[data-save=zip]"), most=200)
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    pack = tmp_path / "pack.zip"
    saved.value.save_as(pack)
    found = verify_file(pack)
    assert (found.holds, found.cases) == (True, 1)
    file = store.read(TENANT, case_id)
    assert file.counts().by_verdict == {
        "supported": number - 1, "partially_supported": 0, "not_supported": 0, "cannot_be_evaluated": 1,
    }  # fmt: skip
    (undecidable,) = file.current[file.claims.material[0].claim_id]
    assert undecidable.verdict.missing == "הנספח"
    assert undecidable.verdict.diagnosis is not None
    assert undecidable.verdict.diagnosis.next_check == "next_check"

    page.get_by_role("link", name="לכל התיקים").press("Enter")
    row = page.locator(f"[data-case='{case_id}']")
    expect(row).to_have_attribute("data-state", "done")


def test_claims_stand_beside_passages_and_proposals_apart(
    store: EvidenceStore, reviewer: str, open_page: OpenPage
) -> None:
    known = stored(store, "beside")
    price = known.claims.material[0]
    store.add_proposal(
        TENANT,
        ModelProposal(
            case_id=known.case.case_id, claim_set=known.claims.claim_set_hash, model="scripted", prompt="a" * 64, at=AT,
            temperature=TEMPERATURE, resamples=("x", "y"),
            claims=(ClaimProposal(claim_id=price.claim_id, support="supported", why="It says so.", kept=1),),
        ),
    )  # fmt: skip
    page = open_page(f"#/evidence?case={known.case.case_id}", key=reviewer, locale="en-GB")
    first, second, third = (claims(page).nth(place) for place in range(3))
    expect(first.locator("[data-part=claim] mark.held")).to_have_text("46")
    expect(first.locator("blockquote mark.held")).to_have_text("46")
    expect(first.locator("blockquote mark.quoted").first).to_contain_text("תו תושב ראשון עולה")
    expect(second.locator("[data-part=claim] mark.absent")).to_have_text("3")
    expect(third).to_contain_text("No citation stands at the claim.")
    proposal = first.locator("[data-part=proposal]")
    expect(proposal.locator("summary")).to_contain_text("not a verdict")
    proposal.locator("summary").click()
    expect(proposal.locator("[data-part=by-model]")).to_contain_text("scripted")
    expect(proposal.locator("[data-part=by-model]")).to_contain_text(re.compile("Kept in .?1.? of .?2"))
    expect(page.locator("[data-part=counts]")).to_contain_text(re.compile(".?0.? of .?3.? reviewed"))
    expect(page.locator("main")).not_to_contain_text("%")


def test_disagreement_stands_before_any_figure(store: EvidenceStore, reviewer: str, open_page: OpenPage) -> None:
    known = stored(store, "disagreement")
    for who, support in (("dana", "supported"), ("noa", "not_supported")):
        decided(store, known, 0, support, who)
    page = open_page(f"#/evidence?case={known.case.case_id}", key=reviewer, locale="en-GB")
    there = page.locator("[data-part=disagreements]")
    expect(there).to_contain_text("noa: not supported")
    assert there.bounding_box()["y"] < page.locator("[data-part=counts]").bounding_box()["y"]  # type: ignore[index]
    expect(claims(page).first).to_have_attribute("data-state", "disagreed")
    page.locator("[data-part=history] summary").click()
    expect(page.locator("[data-part=history] [data-part=decision]")).to_have_count(2)
    page.goto(page.url.split("#")[0] + "#/evidence?state=disagreed&text=disagreement")
    expect(page.locator("[data-case]")).to_have_count(1)
    page.get_by_label("State").select_option("done")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("[data-trouble=empty]")).to_be_visible()


def test_claims_are_split_joined_and_marked(store: EvidenceStore, reviewer: str, open_page: OpenPage) -> None:
    known = stored(store, "edits")
    page = open_page(f"#/evidence?case={known.case.case_id}", key=reviewer, locale="en-GB")
    expect(claims(page)).to_have_count(3)
    editor = page.locator("[data-part=editor]")

    def edit(operation: str, place: int, left: int) -> None:
        editor.locator("summary").click()
        editor.locator("select").first.select_option(str(place))
        editor.locator(f"[data-edit={operation}]").click()
        expect(claims(page)).to_have_count(left)

    edit("split", 0, 4)
    edit("merge", 0, 3)
    editor.locator("summary").click()
    editor.locator("select").first.select_option("2")
    editor.locator("[data-edit=immaterial]").click()
    # Marking needs a reason; the service says so.
    expect(editor.locator("[data-trouble=invalid]")).to_be_visible()
    editor.locator("input").fill("not of the question")
    editor.locator("[data-edit=immaterial]").click()
    expect(claims(page)).to_have_count(2)
    assert [one.operation for one in store.read(TENANT, known.case.case_id).sets] == [
        "rules", "split", "merge", "immaterial",
    ]  # fmt: skip


def test_markup_in_claim_reason_and_note_stays_text(store: EvidenceStore, reviewer: str, open_page: OpenPage) -> None:
    payload = files.PAYLOAD
    known = stored(store, f"attack {payload}", f"The clause says {payload} of 7 days [1].", passages=(payload,))
    page = open_page(f"#/evidence?case={known.case.case_id}", key=reviewer, locale="en-GB")
    expect(page.locator("[data-part=claim]").first).to_contain_text(payload[:20])
    page.locator("input[value=attached]").check()
    page.locator("input[value=supported]").check()
    for name in ("attachment_reason", "support_reason", "note"):
        page.locator(f"[name={name}]").fill(f"{name} {payload}")
    page.locator("[data-do=save]").click()
    expect(page.locator("[data-claim] [data-part=decision]").first).to_contain_text(f"note {payload}")
    page.locator("[name=case_note]").fill(f"case {payload}")
    page.locator("form:has([name=case_note]) button").click()
    page.locator("[data-part=history] summary").click()
    expect(page.locator("[data-part=history]")).to_contain_text(f"case {payload}")
    page.goto(page.url.split("#")[0] + f"#/evidence?text=attack&owner={payload}")
    expect(page.locator("[data-trouble=empty]")).to_be_visible()
    assert page.locator("main :is(img, script, svg, b, em, iframe)").count() == 0
    assert page.title() != "run"


@pytest.mark.parametrize(("locale", "words"), [("he-IL", "אין תיק כזה"), ("en-GB", "There is no such case")])
def test_a_case_of_another_tenant_is_not_there(
    store: EvidenceStore, reviewer: str, open_page: OpenPage, locale: str, words: str
) -> None:
    theirs = stored(store, f"theirs {locale}", tenant="others")
    page = open_page(f"#/evidence?case={theirs.case.case_id}", key=reviewer, locale=locale)
    expect(page.locator("[data-trouble=missing] h1")).to_have_text(words)
    expect(page.locator("main")).not_to_contain_text("46")
    page.goto(page.url.split("#")[0] + "#/evidence?text=theirs")
    expect(page.locator("[data-trouble=empty]")).to_be_visible()


def test_a_key_that_may_not_review_reads(site: Site, store: EvidenceStore, open_page: OpenPage) -> None:
    known = stored(store, "read only")
    page = open_page(f"#/evidence?case={known.case.case_id}", locale="en-GB")
    expect(page.locator("[data-part=readonly]")).to_be_visible()
    expect(claims(page)).to_have_count(3)
    assert page.locator("main form, [data-part=editor]").count() == 0
    claims(page).first.focus()
    page.keyboard.press("Digit4")
    page.keyboard.press("KeyJ")
    expect(claims(page).nth(1)).to_be_focused()
    with page.expect_download() as table:
        page.locator("[data-save=csv]").click()
    assert "46" in Path(table.value.path()).read_text(encoding="utf-8-sig")
    with page.expect_download() as book:
        page.locator("[data-save=xlsx]").click()
    assert book.value.suggested_filename == f"evidence-{known.case.case_id[:12]}.xlsx"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["he-IL", "en-GB"])
def test_no_grave_finding_of_axe_and_nothing_cut_off(
    store: EvidenceStore, reviewer: str, open_page: OpenPage, locale: str, scheme: str
) -> None:
    known = stored(store, f"axe {locale} {scheme}")
    diagnosis = {"cause": "not_retrieved", "observation": "o", "hypothesis": "h", "next_check": "c"}
    decided(store, known, 0, "supported", "dana", note="n")
    decided(store, known, 0, "not_supported", "noa", diagnosis=diagnosis)
    size = PHONE if (locale == "he-IL") == (scheme == "dark") else DESK
    page = open_page("#/evidence", key=reviewer, locale=locale, color_scheme=scheme, viewport=size)
    found: dict[str, Sequence[Any]] = {}
    for address, there in (
        ("#/evidence", "[data-case]"),
        (f"#/evidence?case={known.case.case_id}", "[data-claim] form"),
    ):
        page.goto(page.url.split("#")[0] + address)
        expect(page.locator(there).first).to_be_visible()
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        page.evaluate(AXE)
        result = page.evaluate("axe.run(document, { resultTypes: ['violations'], iframes: false })")
        found[address] = [
            (one["id"], one["help"], [node["html"][:200] for node in one["nodes"]][:3])
            for one in result["violations"]
            if one["impact"] in GRAVE
        ]
        assert not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"), address
    assert {name: grave for name, grave in found.items() if grave} == {}

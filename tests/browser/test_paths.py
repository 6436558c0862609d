"""What people do on the page: search, narrow, open a citation at its place, send files, try again; by keyboard too."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from openpyxl import load_workbook
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.browser import files
from tests.browser.conftest import PHONE, OpenPage, Site, until

pytestmark = pytest.mark.extra("chromium")

# What the page may need from an answer that has come to results that are seen.
SHOWN_MS = 300
# The dialogue for files opens at once, or the key was lost to a list that was drawn anew.
CHOOSER_MS = 5_000
CHOOSER_TRIES = 5


def ask(page: Page, query: str) -> None:
    """Ask in the page's own box."""
    page.get_by_role("searchbox").fill(query)
    page.keyboard.press("Enter")


def tab_to(page: Page, target: Locator, most: int = 60, key: str = "Tab") -> None:
    """Reach a control by the keyboard alone."""
    for _ in range(most):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"the keyboard does not reach {target}")


def cited(page: Page) -> Locator:
    """The first source of the answer."""
    return page.locator("[data-part=answer] .citations [data-cite]").first


def quoted(page: Page) -> Locator:
    """The first line of what the viewer marks."""
    return page.locator("dialog [data-part=quote]")


def chosen_by_keyboard(page: Page, file: Path) -> None:
    """The system's own dialogue is not the page's; Chromium opens it by the same key, when busy by the second."""
    for _ in range(CHOOSER_TRIES):
        try:
            with page.expect_file_chooser(timeout=CHOOSER_MS) as opened:
                page.keyboard.press("Enter")
        except PlaywrightTimeout:
            continue
        opened.value.set_files(file)
        return
    raise AssertionError("the keyboard opens no dialogue for a file")


def marked(page: Page, text: str) -> Locator:
    """A line of what the viewer marks."""
    return page.locator("dialog mark").filter(has_text=text).first


def test_the_whole_path_by_keyboard_alone(site: Site, open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(key=None)
    expect(page.get_by_label("מפתח", exact=True)).to_be_visible()
    tab_to(page, page.locator("[name=key]"))
    page.keyboard.type(site.key)
    page.keyboard.press("Enter")
    box = page.get_by_role("searchbox")
    expect(box).to_be_focused()
    page.keyboard.type("כמה אישורי חניה מגיעים לתושב?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-hit]").first).to_be_visible()

    only = page.locator("[data-filter='type=procedure']")
    tab_to(page, only)
    page.keyboard.press("Space")
    expect(page.locator("[data-chip=type]")).to_be_visible()
    expect(only).to_be_focused()
    expect(page.locator("[data-part=answer]")).to_have_attribute("data-state", "done")
    tab_to(page, cited(page))
    page.keyboard.press("Enter")
    expect(quoted(page)).to_contain_text("אישור חניה אחד לכל רכב")
    expect(quoted(page)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(cited(page)).to_be_focused()

    documents = page.get_by_role("link", name="מסמכים", exact=True).first
    tab_to(page, documents, key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="מסמכים", level=1)).to_be_focused()
    sent = tmp_path / "מקלדת.md"
    sent.write_text("# מקלדת\n\nאת המקלדת האפורה מחליפים אחת לארבע שנים.\n", encoding="utf-8")
    chooser = page.locator("input[type=file]")
    tab_to(page, chooser)
    chosen_by_keyboard(page, sent)
    row = page.locator("[data-document]").filter(has_text=sent.name)
    expect(row).to_have_attribute("data-state", "ready")

    broken = page.locator("[data-document]").filter(has_text=files.BROKEN_NAME)
    expect(broken.locator("[data-part=reason]")).to_be_visible()
    with page.expect_response(lambda answer: answer.url.endswith("/retry")) as retried:
        tab_to(page, broken.locator("[data-do=retry]"))
        page.keyboard.press("Enter")
    assert retried.value.status == 202
    expect(broken).to_have_attribute("data-state", "failed")
    site.settle()
    assert next(one for one in site.documents() if one["name"] == files.BROKEN_NAME)["attempts"] >= 2

    tab_to(page, row.locator("[data-do=delete]"), key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("[data-do=keep]")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(row).to_have_count(0)
    assert sent.name not in {one["name"] for one in site.documents()}


def test_first_results_are_seen_at_once(open_page: OpenPage) -> None:
    page = open_page("#/search?q=אישור+חניה&a=0")
    for times, word in enumerate(("מטף", "שולחן", "הסכם", "אישור"), start=1):
        # Each to its end: a search that is broken off by the next one is never shown.
        until(page, f"performance.getEntriesByName('shown').length === {times}")
        ask(page, word)
    until(page, "performance.getEntriesByName('shown').length === 5")
    # From the answer's last byte to the frame after the results were put in.
    took = page.evaluate(
        """async () => {
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          const marks = (name) => performance.getEntriesByName(name).map((mark) => mark.startTime);
          const answered = performance.getEntriesByType("resource").filter((one) => one.name.endsWith("/search"));
          return marks("shown").map((at, place) => at - answered[place].responseEnd);
        }"""
    )
    assert len(took) == 5
    assert min(took) < SHOWN_MS, took
    assert sorted(took)[len(took) // 2] < SHOWN_MS, took


def test_a_pdf_opens_at_its_page_with_the_words_marked(open_page: OpenPage) -> None:
    page = open_page(locale="en-GB")
    ask(page, "How long may bicycles stand in the northern shed?")
    cited(page).click()
    expect(quoted(page)).to_contain_text("Bicycles may stand in the northern shed")
    expect(quoted(page)).to_be_in_viewport()
    expect(page.locator("dialog [data-part=place]")).to_have_text(re.compile("^page \u2068?2\u2069?$"))
    frame = page.locator("dialog iframe")
    expect(frame).to_be_visible()
    assert re.fullmatch(r"blob:.*#page=2", frame.get_attribute("src") or "")
    expect(page.locator("dialog [data-do=pdf]")).to_have_attribute("href", re.compile(r"^blob:.*#page=2$"))
    # The browser's own reader has taken it: it makes frames of its own inside.
    until(page, "document.querySelector('dialog iframe').contentWindow !== null")
    assert any(one.url.startswith("blob:") for one in page.frames)


def test_a_sheet_and_subtitles_open_at_their_place(open_page: OpenPage) -> None:
    page = open_page("#/search?q=שולחן+עץ+אלון")
    hit = page.locator("[data-hit]").filter(has_text="שולחן עץ אלון").first
    expect(hit.locator("[data-part=place]")).to_contain_text("גיליון")
    hit.locator("[data-do=open]").click()
    expect(page.locator("dialog [data-part=place]")).to_contain_text(re.compile("מחירים.*A2:C3"))
    expect(marked(page, "1450")).to_be_visible()
    with page.expect_download() as saved:
        page.locator("[data-do=save]").click()
    assert saved.value.suggested_filename == "מחירון.xlsx"
    assert Path(saved.value.path()).read_bytes() == files.CORPUS["מחירון.xlsx"]
    page.get_by_role("button", name="סגירה").click()

    ask(page, "מתי מפעילים את המטף הכחול?")
    expect(page.locator("[data-part=answer]")).to_have_attribute("data-state", "done")
    source = page.locator(".citations li").filter(has_text="המטף הכחול").first
    source.locator("[data-cite]").click()
    expect(quoted(page)).to_contain_text("את המטף הכחול מפעילים רק לאחר ניתוק החשמל")
    expect(page.locator("dialog [data-part=place]")).to_contain_text(re.compile(r"\d:\d\d"))


def test_words_of_the_question_are_chips_that_come_off(open_page: OpenPage) -> None:
    page = open_page("#/search?a=0")
    ask(page, "הסכם אספקה Acme")
    chip = page.locator("[data-chip=party]")
    expect(chip).to_contain_text("Acme Ltd.")
    expect(chip).to_have_class(re.compile("derived"))
    with page.expect_request(lambda request: request.url.endswith("/search")) as sent:
        chip.get_by_role("button").click()
    body = sent.value.post_data_json
    assert body is not None
    assert body["without"] == ["party"]
    expect(chip).to_have_count(0)
    page.locator("[data-do=restore]").click()
    expect(page.locator("[data-chip=party]")).to_be_visible()
    page.go_back()
    expect(page.locator("[data-chip=party]")).to_have_count(0)


def test_why_a_passage_stands_here_and_what_the_reader_thinks(site: Site, open_page: OpenPage) -> None:
    page = open_page("#/search?q=אישור+חניה+לתושב&a=0")
    hit = page.locator("[data-hit]").first
    hit.locator("[data-part=why] summary").click()
    expect(hit.locator("[data-part=why] dd").first).to_be_visible()
    picked = hit.locator("[data-mark=picked]")
    picked.click()
    expect(picked).to_have_attribute("aria-pressed", "true")
    (mark,) = [one for one in site.ask("GET", "/feedback").json() if not one["withdrawn"]]
    assert (mark["query"], mark["verdict"], mark["kind"]) == ("אישור חניה לתושב", "picked", "passage")
    hit.locator("[data-do=undo-mark]").click()
    expect(picked).to_have_attribute("aria-pressed", "false")
    assert all(one["withdrawn"] for one in site.ask("GET", "/feedback").json())


def test_a_document_in_quarantine_says_why_and_is_let_in(site: Site, open_page: OpenPage) -> None:
    page = open_page("#/documents?state=quarantined", locale="en-GB")
    row = page.locator("[data-document]")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("A date that does not exist.")
    row.locator("[data-do=release]").click()
    expect(row).to_have_attribute("data-state", "ready")
    site.settle()
    # As it was, for whoever runs after.
    site.ask("DELETE", f"/documents/{row.get_attribute('data-document')}")
    site.ask("POST", "/documents", files={"file": ("מחסן.md", files.CORPUS["מחסן.md"])})
    site.settle()


def test_the_language_is_the_browser_s_and_can_be_changed(open_page: OpenPage) -> None:
    page = open_page("#/search?q=אישור+חניה&a=0", locale="en-GB")
    expect(page.locator("html")).to_have_attribute("dir", "ltr")
    expect(page.get_by_role("button", name="Search")).to_be_visible()
    expect(page.locator("[data-hit]").first).to_be_visible()
    searches: list[str] = []
    page.on("request", lambda request: searches.append(request.url) if request.url.endswith("/search") else None)
    page.locator("[data-do=language]").click()
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.locator("html")).to_have_attribute("lang", "he")
    expect(page.locator("[data-hit]").first).to_be_visible()
    assert searches == []
    page.reload()
    expect(page.get_by_role("button", name="חיפוש")).to_be_visible()
    expect(page.locator("[data-hit]").first).to_be_visible()
    # What a passage reads from depends on the passage alone.
    directions = page.locator(".passage .line:not(:empty)").evaluate_all(
        "all => all.map((one) => getComputedStyle(one).direction)"
    )
    assert set(directions) == {"rtl", "ltr"}


def test_colours_follow_the_system_and_the_button(open_page: OpenPage) -> None:
    page = open_page(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator("[data-do=theme]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_nothing_is_cut_off_on_a_small_screen(open_page: OpenPage) -> None:
    page = open_page("#/search?q=אישור+חניה", viewport=PHONE)
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    expect(page.locator("[data-part=answer]")).to_have_attribute("data-state", "done")
    page.locator(".narrowing summary").click()
    assert not page.evaluate(wide)
    page.locator("[data-hit] [data-do=open]").first.click()
    expect(quoted(page)).to_be_in_viewport()
    assert not page.evaluate(wide)
    page.get_by_role("button", name="סגירה").click()
    page.goto(page.url.split("#")[0] + "#/documents")
    expect(page.locator("[data-document]").first).to_be_visible()
    assert not page.evaluate(wide)


def test_a_list_of_results_is_saved_as_a_file(open_page: OpenPage) -> None:
    page = open_page("#/search?q=אישור+חניה&a=0")
    with page.expect_download() as workbook:
        page.locator("[data-export=xlsx]").click()
    sheets = load_workbook(io.BytesIO(Path(workbook.value.path()).read_bytes()))
    rows = [cell.value for sheet in sheets for row in sheet.iter_rows() for cell in row]
    assert any("אישור חניה אחד לכל רכב" in str(value) for value in rows)
    with page.expect_download() as table:
        page.locator("[data-export=csv]").click()
    assert table.value.suggested_filename.endswith(".csv")
    assert "אישור חניה אחד לכל רכב" in Path(table.value.path()).read_text(encoding="utf-8-sig")


def test_brackets_and_latin_names_stand_as_they_are_read(open_page: OpenPage) -> None:
    """`Acme Ltd. (ח.פ. 512345678)` from right to left: the name, the bracket, the number, by where they are drawn."""
    page = open_page("#/search?q=הסכם+אספקה+Acme&a=0", locale="en-GB")
    hit = page.locator("[data-hit]").filter(has_text="512345678").first
    expect(hit).to_be_visible()
    places = hit.locator(".passage").evaluate(
        """(passage) => {
          const walker = document.createTreeWalker(passage, NodeFilter.SHOW_TEXT);
          const found = {};
          let held = "";
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            for (let at = 0; at < node.length; at += 1) {
              held += node.data[at];
              for (const word of ["לבין A", "Acme Ltd. (", "512345678"]) {
                if (!held.endsWith(word)) continue;
                const range = document.createRange();
                range.setStart(node, at);
                range.setEnd(node, at + 1);
                found[word] = range.getBoundingClientRect().x;
              }
            }
          }
          return found;
        }"""
    )
    assert places["לבין A"] > places["Acme Ltd. ("] > places["512345678"], places

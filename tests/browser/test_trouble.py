"""Every trouble has a state of its own on the page, in both languages, with a way on."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from api.keys import KeyStore
from models.base import Completion, CompletionStream, LanguageModelDescription, Message
from search_config.client import Engine
from tests.browser import files
from tests.browser.conftest import OpenPage, Site, changed, served

pytestmark = pytest.mark.extra("chromium")

LOCALES = ("he-IL", "en-GB")
HEBREW = re.compile("[א-ת]")


def said(page: Page, kind: str, locale: str) -> None:
    """The state is there, and speaks the page's language."""
    panel = page.locator(f"[data-trouble={kind}]").first
    expect(panel).to_be_visible()
    heading = panel.locator("h2").first
    text = (heading if heading.count() else panel).inner_text()
    assert bool(HEBREW.search(text)) == (locale == "he-IL"), text


@pytest.mark.parametrize("locale", LOCALES)
def test_no_key_a_wrong_one_and_a_revoked_one(site: Site, open_page: OpenPage, locale: str) -> None:
    page = open_page("#/search?q=אישור+חניה&a=0", key=None, locale=locale)
    expect(page.locator("[data-view=signin]")).to_be_visible()
    for wrong in ("mk_nothing", "מפתח בעברית"):
        page.locator("[name=key]").fill(wrong)
        page.keyboard.press("Enter")
        said(page, "unknown-key", locale)
    created = site.services.keys.create("page")
    page.locator("[name=key]").fill(created.key)
    page.keyboard.press("Enter")
    expect(page.locator("[data-hit]").first).to_be_visible()
    assert page.evaluate("Object.values(localStorage).join()").find(created.key) < 0
    site.services.keys.revoke("page", created.id)
    page.get_by_role("searchbox").fill("מטף")
    page.keyboard.press("Enter")
    said(page, "revoked", locale)
    assert page.evaluate("sessionStorage.getItem('mafteach.key')") is None
    expect(page.locator("[data-hit]")).to_have_count(0)
    page.locator("[name=key]").fill(site.key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("searchbox")).to_have_value("מטף")
    page.locator("[data-do=signout]").click()
    expect(page.locator("[data-view=signin]")).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('mafteach.key')") is None


@pytest.mark.parametrize("locale", LOCALES)
def test_the_engine_is_down(site: Site, open_page: OpenPage, locale: str) -> None:
    """An engine at an address that nobody listens on."""
    nowhere = Engine("http://127.0.0.1:9", timeout_s=1)
    down = changed(
        site.services, engine=nowhere, keys=KeyStore(nowhere, site.services.info.names), inbox=None,
        settings=site.services.settings.model_copy(update={"query_log": False}),
    )  # fmt: skip
    with served(down) as url:
        page = open_page("#/search?q=אישור+חניה", url=url, locale=locale)
        said(page, "down", locale)
        again = page.locator("[data-trouble=down] button")
        expect(again).to_be_disabled()
        expect(page.get_by_role("searchbox")).to_have_value("אישור חניה")
        expect(again).to_be_enabled(timeout=15_000)
        page.goto(f"{url}/#/documents")
        said(page, "down", locale)
        page.close()
    nowhere.close()


@pytest.mark.parametrize("locale", LOCALES)
def test_too_many_requests(site: Site, open_page: OpenPage, locale: str) -> None:
    own = site.services.settings.model_copy(update={"rate_limit_per_minute": 1})
    with served(changed(site.services, settings=own, inbox=None)) as url:
        page = open_page("#/search?q=אישור+חניה&a=0", url=url, locale=locale)
        expect(page.locator("[data-hit]").first).to_be_visible()
        page.get_by_role("searchbox").fill("מטף")
        page.keyboard.press("Enter")
        said(page, "limited", locale)
        expect(page.locator("[data-trouble=limited] button")).to_be_disabled()
        expect(page.locator("[data-trouble=limited] .actions")).to_contain_text(re.compile(r"\d"))
        page.close()


class _Slow:
    """A language model that writes one word again and again, without an end."""

    description = LanguageModelDescription(name="slow", window=8_000)

    def __init__(self) -> None:
        self.closed = threading.Event()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def complete(self, messages: Sequence[Message], **_: object) -> Completion:
        raise NotImplementedError

    def stream(self, messages: Sequence[Message], **_: object) -> CompletionStream:
        return _Pieces(self.closed)

    def close(self) -> None:
        self.closed.set()


class _Pieces:
    whole = False

    def __init__(self, closed: threading.Event) -> None:
        self._closed = closed

    def __iter__(self) -> Iterator[str]:
        while not self._closed.wait(0.1):
            yield "אולי "

    def close(self) -> None:
        self._closed.set()


@pytest.mark.parametrize("locale", LOCALES)
def test_a_slow_answer_says_so_and_is_cancelled(site: Site, open_page: OpenPage, locale: str) -> None:
    model = _Slow()
    with served(changed(site.services, language_model=model, inbox=None)) as url:
        page = open_page("#/search?q=כמה+אישורי+חניה+מגיעים+לתושב?", url=url, locale=locale)
        answer = page.locator("[data-part=answer]")
        expect(answer.locator(".draft")).to_contain_text("אולי אולי")
        expect(page.locator("[data-hit]").first).to_be_visible()
        expect(answer).to_contain_text("לוקח יותר" if locale == "he-IL" else "longer than usual")
        answer.get_by_role("button").click()
        expect(answer).to_have_attribute("data-state", "cancelled")
        assert model.closed.wait(10), "the model goes on though nobody reads it"
        expect(page.locator("[data-hit]").first).to_be_visible()
        page.close()


@contextmanager
def _cut(page: Page) -> Iterator[None]:
    """The connection breaks whenever a file is sent."""

    def refuse(route: Route) -> None:
        if route.request.method == "POST":
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/documents", refuse)
    yield
    page.unroute("**/documents")


@pytest.mark.parametrize("locale", LOCALES)
def test_an_upload_that_is_cut_off_can_be_sent_again(
    site: Site, open_page: OpenPage, locale: str, tmp_path: Path
) -> None:
    page = open_page("#/documents", locale=locale)
    sent = tmp_path / f"cut-{locale}.md"
    sent.write_text("# נקטע\n\nאת הקובץ הזה שולחים פעמיים.\n", encoding="utf-8")
    with _cut(page):
        page.locator("input[type=file]").set_input_files(sent)
        said(page, "cut", locale)
    page.locator("[data-trouble=cut] button").click()
    row = page.locator("[data-document]").filter(has_text=sent.name)
    expect(row).to_have_attribute("data-state", "ready")
    expect(page.locator("[data-upload]")).to_have_count(0)
    site.ask("DELETE", f"/documents/{row.get_attribute('data-document')}")


@pytest.mark.parametrize("locale", LOCALES)
def test_a_document_that_fails_says_why(open_page: OpenPage, locale: str) -> None:
    page = open_page("#/documents?state=failed", locale=locale)
    row = page.locator("[data-document]").filter(has_text=files.BROKEN_NAME)
    reason = row.locator("[data-part=reason]")
    expect(reason).to_contain_text("אינו טקסט" if locale == "he-IL" else "is no text")
    row.locator("summary").click()
    expect(row).to_contain_text("NUL")


@pytest.mark.parametrize("locale", LOCALES)
def test_nothing_found_says_what_was_searched(open_page: OpenPage, locale: str) -> None:
    page = open_page('#/search?q=אישור+חניה&f={"tags":["אין-תגית-כזאת"]}', locale=locale)
    said(page, "nothing", locale)
    panel = page.locator("[data-trouble=nothing]")
    expect(panel).to_contain_text("אישור חניה")
    expect(panel).to_contain_text("אין-תגית-כזאת")
    page.locator("[data-do=unfilter]").click()
    expect(page.locator("[data-hit]").first).to_be_visible()


@pytest.mark.parametrize("locale", LOCALES)
def test_a_refusal_shows_the_nearest_as_the_nearest(open_page: OpenPage, locale: str) -> None:
    page = open_page("#/search?q=מהו+קוטר+הירח+הגדול+של+צדק+בקילומטרים", locale=locale)
    said(page, "refused", locale)
    expect(page.locator(".count-head")).to_contain_text("הקרובים" if locale == "he-IL" else "nearest")
    expect(page.locator("[data-hit]").first).to_be_visible()
    expect(page.locator("[data-part=answer]")).to_have_count(0)


@pytest.mark.parametrize("locale", LOCALES)
def test_without_a_connection(open_page: OpenPage, locale: str) -> None:
    page = open_page("#/search?q=אישור+חניה&a=0", locale=locale)
    expect(page.locator("[data-hit]").first).to_be_visible()
    page.context.set_offline(True)
    page.get_by_role("searchbox").fill("מטף")
    page.keyboard.press("Enter")
    said(page, "offline", locale)
    page.context.set_offline(False)
    page.locator("[data-trouble=offline] button").click()
    expect(page.locator("[data-hit]").first).to_be_visible()


def test_a_key_that_may_only_read(site: Site, open_page: OpenPage, tmp_path: Path) -> None:
    from api.caller import Permission

    key = site.services.keys.create("page", permissions=(Permission.READ,)).key
    page = open_page("#/documents", key=key, locale="en-GB")
    sent = tmp_path / "refused.md"
    sent.write_text("# no\n\ntext", encoding="utf-8")
    page.locator("input[type=file]").set_input_files(sent)
    said(page, "forbidden", "en-GB")


def test_a_document_that_changed_since_the_search(site: Site, open_page: OpenPage) -> None:
    body = {"name": "changes.md", "source": "test:changes", "text": "The copper kettle is descaled monthly."}
    site.ask("POST", "/documents", json=body)
    site.settle()
    page = open_page("#/search?q=when+is+the+copper+kettle+descaled&a=0", locale="en-GB")
    hit = page.locator("[data-hit]").filter(has_text="copper kettle").first
    expect(hit).to_be_visible()
    again = site.ask("POST", "/documents", json={**body, "text": "# Kettle\n\nIt was thrown away."}).json()
    site.settle()
    hit.locator("[data-do=open]").click()
    expect(page.locator("dialog")).to_contain_text("not in it any more")
    site.ask("DELETE", f"/documents/{again['id']}")

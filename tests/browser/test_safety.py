"""What the page must never do: run a document's text, load from elsewhere, grow heavy, or shut people out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import axe_playwright_python
import httpx
import pytest
from playwright.sync_api import Page, expect

from api.routes.page import CONTENT_SECURITY_POLICY, page_files
from tests.browser import files
from tests.browser.conftest import DESK, PHONE, OpenPage, Site

WEIGHT_BYTES: Final = 150_000
AXE: Final = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# What assistive technology or the eyes of many can't get over.
GRAVE: Final = ("serious", "critical")


@pytest.mark.extra("chromium")
def test_markup_in_content_title_name_and_query_stays_text(site: Site, open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("#/search?a=1", locale="en-GB")
    page.get_by_role("searchbox").fill("zebra clause")
    page.keyboard.press("Enter")
    hit = page.locator("[data-hit]").filter(has_text="zebra").first
    expect(hit.locator("h3")).to_have_text(files.ATTACK_TITLE)
    expect(hit.locator(".passage")).to_contain_text(files.PAYLOAD)
    # The author's own letters stay letters beside the service's marks.
    expect(hit.locator(".passage")).to_contain_text("<em>this is emphasised by the author</em>")
    assert "zebra" in {text.lower() for text in hit.locator("mark").all_inner_texts()}
    hit.locator("[data-do=open]").click()
    expect(page.locator("dialog mark").filter(has_text=files.PAYLOAD)).to_be_visible()
    expect(page.locator("dialog")).to_contain_text(files.ATTACK_NAME)
    page.keyboard.press("Escape")
    for query in (files.PAYLOAD, '"><svg onload=alert(1)> אישור', "javascript:alert(1) {{7*7}} ${7*7}"):
        page.get_by_role("searchbox").fill(query)
        page.keyboard.press("Enter")
        expect(page.locator("[data-part=found] > *").first).to_be_visible()
        expect(page.get_by_role("searchbox")).to_have_value(query)
    page.goto(
        f"{site.url}/#/search?q=x&f=%7B%22tags%22%3A%5B%22%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%22%5D%7D&w=<b>"
    )
    expect(page.locator("[data-trouble=nothing]")).to_contain_text("<img src=x onerror=alert(1)>")
    page.goto(f"{site.url}/#/documents")
    expect(page.get_by_role("heading", name=files.ATTACK_NAME)).to_be_visible()
    name = tmp_path / "<svg onload=alert(2)>.md"
    name.write_bytes(files.BROKEN)
    page.locator("input[type=file]").set_input_files(name)
    row = page.locator("[data-document]").filter(has_text=name.name)
    expect(row).to_have_attribute("data-state", "failed")
    row.locator("[data-do=delete]").click()
    expect(page.locator("dialog")).to_contain_text(name.name)
    page.locator("[data-do=delete-sure]").click()
    expect(row).to_have_count(0)
    assert page.locator("main :is(img, script, svg, b, em, iframe)").count() == 0
    assert "run" not in page.title()


@pytest.mark.extra("chromium")
def test_the_policy_holds(site: Site, open_page: OpenPage) -> None:
    page = open_page("#/search?q=אישור+חניה", quiet=True)
    expect(page.locator("[data-part=answer]")).to_have_attribute("data-state", "done")
    addresses = page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    assert addresses
    assert all(address.startswith(site.url) for address in addresses), addresses
    refused = page.evaluate(
        """async () => {
          const seen = [];
          document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
          const script = document.createElement("script");
          try { script.textContent = "window.ran = 1"; document.head.append(script); } catch { seen.push("types"); }
          try { document.body.innerHTML += "<i>x</i>"; } catch { seen.push("html"); }
          const style = document.createElement("div");
          style.setAttribute("style", "color: red");
          document.body.append(style);
          await fetch("https://elsewhere.example/").catch(() => seen.push("fetch"));
          // Behind a timer, since the browser lets what a debugger evaluates do more.
          await new Promise((done) => setTimeout(() => {
            try { eval("window.ran = 2"); } catch { seen.push("eval"); }
            done();
          }, 100));
          return { seen, ran: window.ran ?? null, red: style.style.color };
        }"""
    )
    assert refused["ran"] is None
    assert refused["red"] == ""
    assert {"types", "html", "eval", "fetch", "style-src-attr", "connect-src"} <= set(refused["seen"]), refused


def test_files_are_served_with_the_policy_and_weigh_little(site: Site) -> None:
    weight = 0
    for file in page_files():
        answer = httpx.get(site.url + file.path)
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert answer.headers["content-type"] == file.media_type
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert httpx.get(site.url + file.path, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
        weight += len(answer.content)
        for forbidden in (
            "http://",
            "https://",
            "innerHTML",
            "insertAdjacentHTML",
            "document.write",
            " style=",
            "onclick=",
        ):
            assert forbidden not in answer.text.replace("http://www.w3.org/2000/svg", ""), (file.path, forbidden)
    assert weight < WEIGHT_BYTES
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert httpx.get(f"{site.url}/ui/../app.py").status_code in (401, 404)


def _nothing(_page: Page) -> None:
    """The view as it opens."""


def _source(page: Page) -> None:
    page.locator("[data-hit] [data-do=open]").first.click()
    expect(page.locator("dialog [data-part=quote]")).to_be_visible()


def _why(page: Page) -> None:
    page.locator("[data-part=why] summary").first.click()
    page.locator("[data-mark=right]").first.click()
    expect(page.locator("[data-do=undo-mark]")).to_be_visible()
    page.locator("[data-do=undo-mark]").click()


def _confirm(page: Page) -> None:
    expect(page.locator("[data-part=reason]")).to_have_count(2)
    page.locator("[data-do=delete]").first.click()


# Where it is, what to do there, and what shows that it is there.
VIEWS: dict[str, tuple[str, Callable[[Page], None], str]] = {
    "sign-in": ("", _nothing, "[data-view=signin]"),
    "welcome": ("#/search", _nothing, ".welcome"),
    "results": ("#/search?q=אישור+חניה+לתושב", _why, "[data-part=answer][data-state=done]"),
    "source": ("#/search?q=אישור+חניה+לתושב&a=0", _source, "[data-hit]"),
    "fields": ("#/search?q=כמה+חוזים+יש?", _nothing, "[data-part=metadata]"),
    "refusal": ("#/search?q=מהו+קוטר+הירח+הגדול+של+צדק+בקילומטרים", _nothing, "[data-trouble=refused]"),
    "nothing": ('#/search?q=חניה&f={"tags":["אין"]}', _nothing, "[data-trouble=nothing]"),
    "documents": ("#/documents", _nothing, "[data-part=reason]"),
    "delete": ("#/documents", _confirm, "[data-part=reason]"),
}


@pytest.mark.extra("chromium")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["he-IL", "en-GB"])
def test_no_grave_finding_of_axe_in_any_view(open_page: OpenPage, locale: str, scheme: str) -> None:
    found: dict[str, Any] = {}
    # Each language and each scheme in both sizes, over the two parameters.
    size = PHONE if (locale == "he-IL") == (scheme == "dark") else DESK
    signed_in: Page = open_page(locale=locale, color_scheme=scheme, viewport=size)
    for name, (address, act, there) in VIEWS.items():
        page = (
            signed_in if name != "sign-in" else open_page(key=None, locale=locale, color_scheme=scheme, viewport=size)
        )
        page.goto(f"{page.url.split('#')[0]}{address}")
        expect(page.locator(there).first).to_be_visible()
        act(page)
        page.evaluate(AXE)
        result = page.evaluate("axe.run(document, { resultTypes: ['violations'], iframes: false })")
        found[name] = [
            (one["id"], one["help"], [node["html"][:200] for node in one["nodes"]][:3])
            for one in result["violations"]
            if one["impact"] in GRAVE
        ]
        page.keyboard.press("Escape")
    assert {name: grave for name, grave in found.items() if grave} == {}

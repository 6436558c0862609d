"""Take pictures of every view of the page into `docs/page/`: Hebrew and English, wide and narrow, light and dark.

`python -m scripts.screenshots --url http://127.0.0.1:8080 --key KEY` needs a running service, a key that may write and
review in its tenant, the extra `test` and Chromium. It sends the documents of the browser tests first, and freezes
two answers.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Page, Route, sync_playwright

from tests.browser import files

OUT = Path(__file__).resolve().parent.parent / "docs" / "page"
SIZES = {1280: 860, 360: 740}
LOCALES = {"he": "he-IL", "en": "en-GB"}
# Enough for a page of few colours; a quarter of the bytes.
COLOURS = 64
WAIT_S = 120.0
LONG_MS = 60_000
WORKING = {"queued", "extracting", "embedding", "indexing"}


def send(url: str, key: str) -> None:
    """Send the documents, and wait until nothing is worked on."""
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=WAIT_S) as client:
        for name, data in files.CORPUS.items():
            client.post("/documents", files={"file": (name, data)}).raise_for_status()
        ends = time.monotonic() + WAIT_S
        while any(row["state"] in WORKING for row in client.get("/documents").json()):
            if time.monotonic() > ends:
                raise SystemExit("The service does not come to an end with the documents.")
            threading.Event().wait(0.5)


def freeze(url: str, key: str) -> None:
    """Freeze an answer in each language, and decide on its first claim."""
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=WAIT_S) as client:
        for name, question in QUESTION.items():
            made = client.post("/evidence/cases", json={"question": question}).raise_for_status().json()
            path = f"/evidence/cases/{made['case_id']}"
            claims = client.post(f"{path}/claims", json={"operation": "rules"}).raise_for_status().json()["claims"]
            body = {"claim_id": next(one["claim_id"] for one in claims if one["material"]), "verdict": VERDICT[name]}
            client.post(f"{path}/decisions", json=body).raise_for_status()
            CASES[name] = made["case_id"]


def problem(page: Page, path: str, status: int, code: str, seconds: int) -> None:
    """Let one route answer with a trouble that a healthy service can't be brought to."""

    def answer(route: Route) -> None:
        route.fulfill(
            status=status,
            headers={"Retry-After": str(seconds), "Content-Type": "application/problem+json"},
            body=json.dumps({"code": code, "detail": "", "status": status}),
        )

    page.route(f"**{path}", answer)


def results(page: Page) -> None:
    page.locator("[data-part=answer][data-state=done]").wait_for()


def source(page: Page) -> None:
    results(page)
    page.locator(".citations [data-cite]").first.click()
    page.locator("dialog [data-part=quote]").wait_for()
    # The browser's own PDF reader tells nobody when it has drawn.
    page.wait_for_timeout(1500)


def why(page: Page) -> None:
    page.locator("[data-part=why] summary").first.click()
    page.locator("[data-mark]").first.wait_for()


def delete(page: Page) -> None:
    page.locator("[data-part=reason]").first.wait_for()
    page.locator("[data-do=delete]").first.click()


def claim(page: Page) -> None:
    page.locator("[data-claim]").first.scroll_into_view_if_needed()
    page.locator("[data-do=review]").first.click()
    page.locator("[data-claim] form").wait_for()
    page.locator("[data-claim]").first.evaluate("(card) => card.scrollIntoView()")


def shown(selector: str) -> Callable[[Page], None]:
    return lambda page: page.locator(selector).first.wait_for()


QUESTION = {"he": "כמה אישורי חניה מגיעים לתושב?", "en": "How long may bicycles stand in the northern shed?"}
NONSENSE = {"he": "מהו קוטר הירח הגדול של צדק בקילומטרים", "en": "the diameter of the largest moon of Jupiter"}
COUNTED = {"he": "כמה חוזים יש?", "en": "How many contracts are there?"}
CONTRACT = {"he": "הסכם אספקה Acme", "en": "supply contract Acme Ltd."}
VERDICT = {
    "he": {
        "attachment": "attached",
        "attachment_reason": "הסימון נפתח בקטע שהוא מצטט.",
        "support": "supported",
        "support_reason": "הקטע אומר זאת, עם המספר.",
    },
    "en": {
        "attachment": "attached",
        "attachment_reason": "The mark opens at the passage that it quotes.",
        "support": "partially_supported",
        "support_reason": "What happens afterwards is left out.",
    },
}
# Ids of the frozen answers, by language.
CASES: dict[str, str] = {}
NARROWED = '&f={"tags":["2019"]}'

# By view: the address, and what to do until it is there.
VIEWS: dict[str, tuple[Callable[[str], str], Callable[[Page], None]]] = {
    "sign-in": (lambda _: "", shown("[data-view=signin]")),
    "revoked": (lambda _: "#/search?q=x", shown("[data-trouble=revoked]")),
    "results": (lambda name: f"#/search?q={QUESTION[name]}", results),
    "why": (lambda name: f"#/search?q={CONTRACT[name]}&a=0", why),
    "source": (lambda name: f"#/search?q={QUESTION[name]}", source),
    "fields": (lambda name: f"#/search?q={COUNTED[name]}&a=0", shown("[data-part=metadata]")),
    "refusal": (lambda name: f"#/search?q={NONSENSE[name]}", shown("[data-trouble=refused]")),
    "nothing": (lambda name: f"#/search?q={CONTRACT[name]}{NARROWED}", shown("[data-trouble=nothing]")),
    "down": (lambda name: f"#/search?q={QUESTION[name]}", shown("[data-trouble=down]")),
    "limited": (lambda name: f"#/search?q={QUESTION[name]}", shown("[data-trouble=limited]")),
    "documents": (lambda _: "#/documents", shown("[data-part=reason]")),
    "cases": (lambda _: "#/evidence", shown("[data-case]")),
    "sheet": (lambda name: f"#/evidence?case={CASES[name]}", shown("[data-claim]")),
    "claim": (lambda name: f"#/evidence?case={CASES[name]}", claim),
    "delete": (lambda _: "#/documents", delete),
}
PROBLEMS = {
    "revoked": ("/search", 401, "not_authenticated", 0),
    "down": ("/search", 503, "engine_unreachable", 5),
    "limited": ("/search", 429, "rate_limited", 17),
}


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--view", action="append", choices=list(VIEWS), help="only these")
    given = parser.parse_args()
    send(given.url, given.key)
    freeze(given.url, given.key)
    given.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for view in given.view or VIEWS:
            address, act = VIEWS[view]
            for name, locale in LOCALES.items():
                for width, height in SIZES.items():
                    context = browser.new_context(locale=locale, viewport={"width": width, "height": height})
                    context.set_default_timeout(LONG_MS)
                    if view != "sign-in":
                        context.add_init_script(f"sessionStorage.setItem('mafteach.key', '{given.key}')")
                    page = context.new_page()
                    if view in PROBLEMS:
                        problem(page, *PROBLEMS[view])
                    page.goto(f"{given.url}/{address(name)}")
                    act(page)
                    for scheme in ("light", "dark"):
                        page.emulate_media(color_scheme=scheme)
                        picture = Image.open(io.BytesIO(page.screenshot()))
                        small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
                        small.save(given.out / f"{view}-{name}-{width}-{scheme}.png", optimize=True)
                    context.close()
            print(view)
        browser.close()


if __name__ == "__main__":
    main()

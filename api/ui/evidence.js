// Evidence: the list of frozen cases, by what was decided about them; one of them is a sheet.

import { ask, read } from "/ui/api.js";
import { bdi, el } from "/ui/dom.js";
import { CASES, field, tried } from "/ui/evidence_review.js";
import { sheetView } from "/ui/evidence_sheet.js";
import { waiting } from "/ui/trouble.js";
import { moment, t } from "/ui/words.js";

const PAGE = 50;

/** The view: a sheet where the address names a case, else the list. */
export function evidenceView(asked) {
  return asked.get("case") ? sheetView(asked.get("case")) : listView(asked);
}

/** How many claims were reviewed: a count, and no score. */
export function reviewed({ claims, undecided }) {
  const text = t("evidence.progress", { n: claims - undecided, m: claims });
  return [text, " ", el("progress", { max: claims || 1, value: claims - undecided, "aria-label": text })];
}

function listView(asked) {
  const gone = new AbortController();
  const said = el("div", {});
  const list = el("ul", { class: "documents", "aria-label": t("nav.evidence") });
  const more = el("p", {});
  const text = (name) => field(t(`evidence.${name}`), el("input", { name, dir: "auto", value: asked.get(name) ?? "" }));
  const option = (value, words) => el("option", { value, selected: asked.get("state") === value }, words);
  const form = el(
    "form",
    { class: "panel options", on: { submit: (event) => {
      event.preventDefault();
      const given = [...new FormData(form)].filter(([, value]) => value.trim());
      const address = `#/evidence?${new URLSearchParams(given)}`;
      if (address === location.hash) void load();
      else location.hash = address;
    } } },
    text("text"),
    text("owner"),
    field(t("evidence.state"), el("select", { name: "state" }, option("", t("evidence.any")),
      ["open", "disagreed", "done", "miss"].map((state) => option(state, t(`case.${state}`))))),
    el("button", { class: "primary" }, t("search.submit")),
  );

  const load = () => tried(said, async () => {
    const wait = waiting(t("evidence.loading"), () => gone.abort());
    said.append(wait);
    try {
      const response = await ask("GET", `${CASES}?${new URLSearchParams([...asked, ["size", PAGE]])}`, { signal: gone.signal });
      const found = await read(response, "json");
      list.replaceChildren(...found.map(item));
      more.replaceChildren();
      if (response.headers.get("Link")) {
        asked.set("after", found.at(-1).case_id);
        more.append(el("a", { href: `#/evidence?${asked}` }, t("page.after")));
      }
      if (!found.length) said.append(el("p", { class: "panel", "data-trouble": "empty" }, t("evidence.none")));
    } finally {
      wait.remove();
    }
  });

  return {
    element: el("div", { "data-view": "evidence" }, el("h1", {}, t("nav.evidence")), form, said, list, more),
    begin: () => void load(),
    leave: () => gone.abort(),
  };
}

function item(one) {
  return el(
    "li",
    { class: "card document", "data-case": one.case_id, "data-state": one.state },
    el("h2", {}, el("a", { href: `#/evidence?case=${one.case_id}` }, bdi(one.query))),
    el("p", {}, el("span", { class: `state ${one.state}` }, t(`case.${one.state}`)), " ", one.revision && one.state !== "miss" ? reviewed(one.counts) : null),
    el("p", { class: "where" }, bdi(one.owner), " · ", moment(one.answered_at), " · ", bdi(one.case_id.slice(0, 12))),
  );
}

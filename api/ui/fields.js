// What the documents' fields say to a question: the number, what it is made of, and what is not in it.

import { bdi, button, el } from "/ui/dom.js";
import { openSource } from "/ui/viewer.js";
import { day, money, named, number, t } from "/ui/words.js";

const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/;
const NUMERIC = /^-?\d+(\.\d+)?$/;

/** The card of an exact answer, or of one that could not be exact. */
export function fieldsCard(said) {
  return el(
    "section",
    { class: "card answer", "data-part": "metadata", "aria-label": t("fields.title") },
    el("h2", {}, t("fields.title")),
    said.value === null ? null : el("p", { class: "value" }, bdi(shown(said.value, said.currency))),
    el("p", { dir: "auto", class: "answer-text" }, said.text),
    el("p", { class: "quiet" }, t("fields.counted", { n: said.counted }), " ", t("fields.as_of", { day: day(said.as_of) })),
    said.exact ? null : el("p", { class: "notice" }, t("fields.inexact")),
    said.not_understood.length
      ? el("p", { class: "notice" }, t("fields.not_understood", { words: said.not_understood.join(", ") }))
      : null,
    said.excluded.length
      ? el("ul", { class: "quiet" }, said.excluded.map((one) => el("li", {}, t(`excluded.${one.reason}`, { n: one.documents }))))
      : null,
    values(said),
    documents(said),
  );
}

function shown(value, currency) {
  if (ISO_DAY.test(value)) return day(value);
  if (currency) return money(value, currency);
  return NUMERIC.test(value) ? number(value) : String(value);
}

function values(said) {
  if (!said.values.length) return null;
  return el(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": t("fields.values") },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ["fields.name", "fields.documents", "fields.total"].map((key) => el("th", { scope: "col" }, t(key))))),
      el(
        "tbody",
        {},
        said.values.map((one) =>
          el(
            "tr",
            {},
            el("td", {}, bdi(named("currency", one.name)), one.part ? ` (${named("part", one.part)})` : null),
            el("td", {}, number(one.documents)),
            el("td", {}, one.total === null ? "" : bdi(shown(one.total, one.currency))),
          ),
        ),
      ),
    ),
  );
}

function documents(said) {
  if (!said.documents.length) return null;
  return el(
    "details",
    {},
    el("summary", {}, t("fields.list", { n: said.documents.length })),
    el(
      "ul",
      { class: "plain" },
      said.documents.map((one) =>
        el(
          "li",
          {},
          button(bdi(one.name), () => openSource({ id: one.id, title: one.name }), { class: "title" }),
          one.value === null ? null : [" · ", bdi(shown(one.value, one.currency))],
          one.parties.length ? [" · ", bdi(one.parties.join(", "))] : null,
        ),
      ),
    ),
  );
}

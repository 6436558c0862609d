// What a search is narrowed by: the values of the address, controls for them, and chips that take them off.

import { bdi, button, el, freshId } from "/ui/dom.js";
import { day, known, money, named, number, t } from "/ui/words.js";

const LISTS = [
  "type", "language", "tags", "reference", "groups", "party", "vendor", "client", "authority", "person", "currency",
  "document_id", "excluded_document_id",
];
const RANGES = ["date", "dated", "signed", "effective", "expires"];
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const AMOUNT = /^\d{1,14}(\.\d{1,2})?$/;
// Fields whose values are offered, in this order; the API counts them.
export const FACETS = ["type", "language", "tags", "party", "currency", "year"];
const SHOWN = 8;
const CURRENCIES = ["ILS", "USD", "EUR", "GBP"];

/** The filters that a text of the address holds; what is no filter is left out. */
export function filtersOf(text) {
  let sent = {};
  try {
    sent = JSON.parse(text || "{}") ?? {};
  } catch {
    return {};
  }
  const kept = {};
  for (const name of LISTS) {
    const values = Array.isArray(sent[name]) ? sent[name].filter((value) => typeof value === "string" && value) : [];
    if (values.length) kept[name] = values;
  }
  for (const name of [...RANGES.flatMap((range) => [`${range}_from`, `${range}_to`]), "in_force_on"]) {
    if (DAY.test(sent[name])) kept[name] = sent[name];
  }
  for (const name of ["amount_min", "amount_max"]) if (AMOUNT.test(sent[name])) kept[name] = String(sent[name]);
  return kept;
}

/** The names of a filter in a request: a range has two. */
export function partsOf(name) {
  if (name === "amount") return ["amount_min", "amount_max"];
  return RANGES.includes(name) ? [`${name}_from`, `${name}_to`] : [name];
}

/** What is set, one entry a chip: its name, and its value in words. */
export function entries(filters) {
  const found = [];
  for (const name of LISTS) {
    const values = filters[name] ?? [];
    if (values.length && !(name === "currency" && (filters.amount_min || filters.amount_max))) {
      found.push({ name, value: values.map((value) => valueName(name, value)).join(", ") });
    }
  }
  for (const name of RANGES) {
    const [first, last] = partsOf(name).map((part) => filters[part]);
    if (first || last) found.push({ name, value: range(first && day(first), last && day(last)) });
  }
  const [least, most] = [filters.amount_min, filters.amount_max].map(
    (value) => value && (filters.currency?.[0] ? money(value, filters.currency[0]) : number(value)),
  );
  if (least || most) found.push({ name: "amount", value: range(least, most) });
  if (filters.in_force_on) found.push({ name: "in_force_on", value: day(filters.in_force_on) });
  return found;
}

function range(first, last) {
  if (first && last) return first === last ? first : t("filter.between", { first, last });
  return first ? t("filter.from", { first }) : t("filter.to", { last });
}

function valueName(name, value) {
  if (name === "type" || name === "language" || name === "currency") return named(name, value);
  return value;
}

/** Chips: those of the reader, and those that the question named; each is taken off by its button. */
export function chips(filters, derived, { remove, removeDerived }) {
  const chip = (entry, off, isDerived) =>
    el(
      "li",
      { class: isDerived ? "chip derived" : "chip", "data-chip": entry.name },
      el("span", {}, `${known(`field.${entry.name}`) ? t(`field.${entry.name}`) : entry.name}: `, bdi(entry.value)),
      isDerived ? el("span", { class: "quiet" }, t("filter.derived")) : null,
      button("×", () => off(entry.name), { "aria-label": t("filter.remove", { name: t(`field.${entry.name}`) }) }),
    );
  const all = [
    ...entries(filters).map((entry) => chip(entry, remove, false)),
    ...entries(derived).map((entry) => chip(entry, removeDerived, true)),
  ];
  return all.length ? el("ul", { class: "chips", "aria-label": t("filter.active") }, all) : null;
}

/** What is offered of each field: once a value is chosen, the API counts no other one of its field, and they must stay
 * there to be chosen beside it. Gives a function of a query's facets and of the filters they were counted under. */
export function offers() {
  const before = new Map();
  let asked = null;
  return (query, facets, filters) => {
    if (query !== asked) before.clear();
    asked = query;
    return facets.map((facet) => {
      const chosen = facet.field === "year" ? chosenYear(filters) : (filters[facet.field] ?? []);
      if (!chosen.length) {
        before.set(facet.field, facet);
        return facet;
      }
      const counted = new Set(facet.values.map((one) => one.value));
      const others = (before.get(facet.field)?.values ?? []).filter((one) => !counted.has(one.value));
      const values = [...facet.values, ...others.map((one) => ({ ...one, found: null }))];
      return { ...facet, values, distinct: Math.max(facet.distinct, values.length) };
    });
  };
}

/** The controls. `change` is called with the filters as they are to be. */
export function controls(filters, facets, change) {
  const set = (values) => {
    const next = { ...filters, ...values };
    for (const [name, value] of Object.entries(next)) if (!value || value.length === 0) delete next[name];
    change(next);
  };
  const groups = FACETS.map((name) => facetGroup(name, facets.find((facet) => facet.field === name), filters, set));
  return el("div", { class: "filters" }, groups, days(filters, set), amounts(filters, set));
}

function facetGroup(name, facet, filters, set) {
  const chosen = name === "year" ? chosenYear(filters) : (filters[name] ?? []);
  const counted = facet?.values ?? [];
  const values = [
    ...counted,
    ...chosen.filter((value) => !counted.some((one) => one.value === value)).map((value) => ({ value, found: null })),
  ];
  if (!values.length) return null;
  const shown = values.filter((one, place) => place < SHOWN || chosen.includes(one.value));
  const toggle = (value, on) => {
    if (name === "year") set({ dated_from: on ? `${value}-01-01` : "", dated_to: on ? `${value}-12-31` : "" });
    else set({ [name]: on ? [...chosen, value] : chosen.filter((one) => one !== value) });
  };
  return el(
    "fieldset",
    {},
    el("legend", {}, t(`field.${name}`)),
    shown.map((one) =>
      el(
        "label",
        { class: "check" },
        el("input", {
          type: "checkbox", checked: chosen.includes(one.value), "data-filter": `${name}=${one.value}`,
          on: { change: (event) => toggle(one.value, event.target.checked) },
        }),
        bdi(name === "year" ? one.value : valueName(name, one.value)),
        one.found === null ? null : el("span", { class: "count" }, t("filter.counts", { n: one.found, all: one.documents })),
      ),
    ),
    values.length > shown.length
      ? el("p", { class: "quiet" }, t("filter.more", { n: (facet.distinct ?? values.length) - shown.length }))
      : null,
  );
}

function chosenYear(filters) {
  const year = filters.dated_from?.slice(0, 4);
  return year && filters.dated_from === `${year}-01-01` && filters.dated_to === `${year}-12-31` ? [year] : [];
}

function field(label, input) {
  const id = freshId("field");
  input.id = id;
  return el("p", { class: "field" }, el("label", { for: id }, label), input);
}

function days(filters, set) {
  const one = (name) =>
    field(
      t(`filter.${name}`),
      el("input", {
        type: "date", value: filters[name] ?? "", "data-filter": name,
        on: { change: (event) => set({ [name]: event.target.value }) },
      }),
    );
  return el("fieldset", {}, el("legend", {}, t("field.dated")), one("dated_from"), one("dated_to"), one("in_force_on"));
}

function amounts(filters, set) {
  const currency = el(
    "select",
    { "data-filter": "amount_currency", on: { change: () => changed() } },
    [...new Set([...(filters.currency ?? []), ...CURRENCIES])].map((code) => el("option", { value: code }, named("currency", code))),
  );
  const one = (name) =>
    el("input", {
      type: "number", min: "0", step: "0.01", inputmode: "decimal", value: filters[name] ?? "", "data-filter": name,
      on: { change: () => changed() },
    });
  const [least, most] = [one("amount_min"), one("amount_max")];
  function changed() {
    const [from, to] = [least.value, most.value].map((value) => (AMOUNT.test(value) ? value : ""));
    set({ amount_min: from, amount_max: to, currency: from || to ? [currency.value] : [] });
  }
  return el(
    "fieldset",
    {},
    el("legend", {}, t("field.amount")),
    field(t("filter.amount_min"), least),
    field(t("filter.amount_max"), most),
    field(t("field.currency"), currency),
  );
}

// The search: a question, what it is narrowed by, an answer, and the passages that were found.

import { ask, askJson, can, saveAs } from "/ui/api.js";
import { answerBox } from "/ui/answer.js";
import { announce, bdi, button, el, freshId } from "/ui/dom.js";
import { marks } from "/ui/feedback.js";
import { freezeButton } from "/ui/evidence_review.js";
import { fieldsCard } from "/ui/fields.js";
import { chips, controls, entries, FACETS, filtersOf, offers, partsOf } from "/ui/filters.js";
import { hitItem } from "/ui/hits.js";
import { troublePanel, waiting } from "/ui/trouble.js";
import { named, t } from "/ui/words.js";

const PAGE = 10;
const EXPORT = "/search/export";
// Passages of a saved list; the API's own limit.
const EXPORTED = 100;

// What was found last, for a view that is made anew in another language; forgotten with every other change.
let last = null;

/** Forget what was found: another key may not see it. */
export function forget() {
  last = null;
}

function stateOf(asked) {
  return {
    query: asked.get("q") ?? "",
    filters: filtersOf(asked.get("f")),
    without: (asked.get("w") ?? "").split(",").filter(Boolean),
    group: asked.get("g") === "1",
    answer: asked.get("a") !== "0",
    from: Math.max(0, Math.min(10_000, Number.parseInt(asked.get("from") ?? "0", 10) || 0)),
  };
}

function addressOf(state) {
  const asked = new URLSearchParams({ q: state.query });
  if (Object.keys(state.filters).length) asked.set("f", JSON.stringify(state.filters));
  if (state.without.length) asked.set("w", state.without.join(","));
  if (state.group) asked.set("g", "1");
  if (!state.answer) asked.set("a", "0");
  if (state.from) asked.set("from", String(state.from));
  return `#/search?${asked}`;
}

/** The view. */
export function searchView(asked) {
  let state = stateOf(asked);
  let gone = new AbortController();
  let answering = null;
  const offered = offers();
  const id = freshId("query");
  const input = el("input", {
    id, type: "search", name: "q", dir: "auto", value: state.query, autocomplete: "off", maxlength: "2000", enterkeyhint: "search",
  });
  const option = (name, key) =>
    el("label", { class: "check" },
      el("input", { type: "checkbox", checked: state[name], "data-option": name, on: {
        change: (event) => go({ [name]: event.target.checked, from: 0 }),
      } }),
      t(key));
  const form = el(
    "form",
    { role: "search", class: "ask", on: { submit: (event) => {
      event.preventDefault();
      // Filters that an earlier question named say nothing of another one.
      go({ query: input.value.trim(), from: 0, without: input.value.trim() === state.query ? state.without : [] }, true);
    } } },
    el("label", { for: id }, t("search.label")),
    el("div", { class: "row" }, input, el("button", { class: "primary" }, t("search.submit"))),
    el("div", { class: "options" }, option("answer", "search.answer"), option("group", "search.group")),
  );
  const narrowing = el("details", { class: "narrowing" }, el("summary", {}, t("filter.title")));
  const wide = matchMedia("(min-width: 62rem)");
  narrowing.open = wide.matches;
  const side = el("aside", { "aria-label": t("filter.title"), hidden: true }, narrowing);
  const chipPlace = el("div", {});
  const answerPlace = el("div", {});
  const found = el("div", { "data-part": "found" });
  const element = el(
    "div",
    { "data-view": "search" },
    el("h1", { class: "unseen" }, t("nav.search")),
    form,
    el("div", { class: "columns" }, side, el("div", { class: "main" }, chipPlace, answerPlace, found)),
  );

  /** Another search: by the address, so that it can be gone back to. */
  function go(change, again = false) {
    const next = { ...state, query: input.value.trim() || state.query, ...change };
    const address = addressOf(next);
    if (address !== location.hash) location.hash = address;
    else if (again) void run();
  }

  function stop() {
    gone.abort();
    answering?.leave();
  }

  async function run() {
    stop();
    gone = new AbortController();
    answerPlace.replaceChildren();
    if (!state.query) {
      found.replaceChildren(welcome());
      chipPlace.replaceChildren();
      side.hidden = true;
      return;
    }
    const slow = setTimeout(() => found.replaceChildren(waiting(t("search.waiting"), cancel)), 150);
    found.setAttribute("aria-busy", "true");
    const body = {
      query: state.query, size: PAGE, from: state.from, filters: state.filters, without: state.without, group: state.group,
      explain: true, facets: FACETS,
    };
    try {
      const result = await askJson("POST", "/search", { body, signal: gone.signal });
      performance.mark("answered");
      clearTimeout(slow);
      last = { address: addressOf(state), result, answer: null };
      show(result);
      performance.mark("shown");
    } catch (trouble) {
      clearTimeout(slow);
      if (trouble.kind !== "cancelled") {
        found.replaceChildren(troublePanel(trouble, () => void run()));
        chipPlace.replaceChildren();
      }
    } finally {
      found.removeAttribute("aria-busy");
    }
  }

  function cancel() {
    gone.abort();
    found.replaceChildren(
      el("p", { class: "quiet" }, t("search.cancelled")),
      button(t("action.again"), () => void run(), { class: "small" }),
    );
    found.querySelector("button").focus();
  }

  function show(result) {
    // Everything below is made anew: the control that was used keeps the focus.
    const used = document.activeElement?.dataset?.filter;
    side.hidden = false;
    narrowing.replaceChildren(
      narrowing.firstChild,
      controls(state.filters, offered(state.query, result.facets, state.filters), (filters) => go({ filters, from: 0 })),
    );
    chipPlace.replaceChildren(
      ...[chips(state.filters, result.derived, {
        remove: (name) => {
          const filters = { ...state.filters };
          for (const part of partsOf(name)) delete filters[part];
          if (name === "amount") delete filters.currency;
          go({ filters, from: 0 });
        },
        removeDerived: (name) => go({ without: [...new Set([...state.without, ...partsOf(name)])], from: 0 }),
      })].filter(Boolean),
      ...(state.without.length
        ? [button(t("filter.restore"), () => go({ without: [], from: 0 }), { class: "small", "data-do": "restore" })]
        : []),
    );
    if (used) [...side.querySelectorAll("[data-filter]")].find((one) => one.dataset.filter === used)?.focus();
    found.replaceChildren(...results(result));
    announce(result.hits.length ? t("search.count", { n: result.total }) : t("none.title"));
    answer(result);
  }

  function answer(result) {
    const parts = result.metadata ? [fieldsCard(result.metadata)] : [];
    if (result.route === "metadata") parts.push(freezeButton(state.query, state));
    const wanted = state.answer && state.from === 0 && result.hits.length && !result.refused && result.route !== "metadata";
    if (wanted) {
      answering = answerBox(state.query, { filters: state.filters, without: state.without }, {
        final: last?.answer ?? null,
        done: (given) => {
          if (last?.result === result) last.answer = given;
        },
      });
      parts.push(answering.element);
    }
    answerPlace.replaceChildren(...parts);
    if (wanted) answering.begin();
  }

  function results(result) {
    const notes = [
      ...result.degraded.map((one) => el("p", { class: "notice" }, t(`degraded.${one.leg}`))),
      // The service's own words, of which many are for its operator, and in English.
      ...(result.notes.length
        ? [el("details", { class: "notes" }, el("summary", {}, t("search.notes", { n: result.notes.length })),
            result.notes.map((note) => el("p", { class: "quiet", dir: "auto" }, note)))]
        : []),
      ...result.glossary.map((one) =>
        el("p", { class: "quiet" }, t("search.glossary", { term: one.term, words: one.equivalents.join(", ") }))),
    ];
    const meant = result.did_you_mean ? didYouMean(result.did_you_mean) : null;
    if (!result.hits.length) return [meant, ...notes, result.route === "metadata" ? exportButtons() : nothing(result)].filter(Boolean);
    return [
      meant,
      ...notes,
      result.refused ? refusal(result) : null,
      el("h2", { class: "count-head" }, t(result.refused ? "search.nearest" : "search.count", { n: result.total })),
      exportButtons(),
      el("ol", { class: "hits", start: state.from + 1 }, result.hits.map((hit) => hitItem(hit, result))),
      pages(result),
    ].filter(Boolean);
  }

  function didYouMean(text) {
    return el("p", { class: "meant" }, t("search.meant"), " ",
      button(bdi(text), () => {
        input.value = text;
        go({ query: text, from: 0, without: [] });
      }, { class: "title", "data-do": "meant" }));
  }

  function refusal(result) {
    return el(
      "div",
      { class: "panel refusal", role: "status", "data-trouble": "refused" },
      el("h2", {}, t("refusal.title")),
      el("p", {}, t("refusal.text")),
      tips(),
      result.reason
        ? el("details", {}, el("summary", {}, t("trouble.technical")), el("p", { class: "technical" }, bdi(result.reason)))
        : null,
      el("div", { class: "actions" }, freezeButton(state.query, state), marks({ result, answer: { question: result.query, refused: true, citations: [] } })),
    );
  }

  function nothing(result) {
    const narrowed = [...entries(state.filters), ...entries(result.derived)];
    return el(
      "div",
      { class: "panel", role: "status", "data-trouble": "nothing" },
      el("h2", {}, t("none.title")),
      el("p", {}, t("none.searched", { query: result.query })),
      narrowed.length
        ? el("p", {}, t("none.narrowed", { filters: narrowed.map((one) => `${named("field", one.name)}: ${one.value}`).join("; ") }))
        : null,
      tips(),
    );
  }

  function tips() {
    const narrowed = Object.keys(state.filters).length > 0;
    return el(
      "ul",
      {},
      narrowed ? el("li", {}, button(t("none.unfilter"), () => go({ filters: {}, from: 0 }), { class: "small", "data-do": "unfilter" })) : null,
      ["words", "spelling"].map((name) => el("li", {}, t(`none.${name}`))),
      el("li", {}, el("a", { href: "#/documents" }, t("none.documents"))),
    );
  }

  function exportButtons() {
    const place = el("div", { class: "actions export" });
    void can("post", EXPORT).then((there) => {
      if (there) place.append(...["xlsx", "csv"].map((format) => button(t(`export.${format}`), () => void save(format, place), { class: "small", "data-export": format })));
    });
    return place;
  }

  async function save(format, place) {
    try {
      const body = { query: state.query, size: EXPORTED, filters: state.filters, without: state.without, group: state.group };
      await saveAs(await ask("POST", `${EXPORT}?format=${format}`, { body }), `${t("export.name")}.${format}`);
    } catch (trouble) {
      place.append(...[troublePanel(trouble)].filter(Boolean));
    }
  }

  function pages(result) {
    if (result.total <= PAGE) return null;
    const turn = (from, key) => button(t(key), () => {
      go({ from });
      form.scrollIntoView();
    }, { "data-do": key });
    return el(
      "nav",
      { class: "actions", "aria-label": t("page.label") },
      state.from > 0 ? turn(Math.max(0, state.from - PAGE), "page.before") : null,
      el("span", {}, t("page.of", { first: state.from + 1, last: state.from + result.hits.length, n: result.total })),
      state.from + PAGE < result.total ? turn(state.from + PAGE, "page.after") : null,
    );
  }

  return {
    element,
    begin() {
      if (last && last.address === addressOf(state)) show(last.result);
      else void run();
    },
    moved({ name, asked: next }) {
      if (name !== "search") return false;
      state = stateOf(next);
      input.value = state.query;
      for (const box of form.querySelectorAll("[data-option]")) box.checked = state[box.dataset.option];
      void run();
      return true;
    },
    leave: stop,
  };
}

function welcome() {
  return el(
    "div",
    { class: "panel welcome" },
    el("h2", {}, t("welcome.title")),
    el("p", {}, t("welcome.text")),
    el("p", {}, el("a", { href: "#/documents" }, t("welcome.documents"))),
  );
}
